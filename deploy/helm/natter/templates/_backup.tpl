{{- /* Network policies know a new pod only after a while. The Job's deadline ends the wait. */ -}}
{{- define "natter.awaitPostgres" -}}
until psql "$URL" -Xqc ''; do sleep 2; done
{{- end -}}

{{- /* The roles come first: rights of the dump name them. A dump that is not whole has another name. */ -}}
{{- define "natter.backupScript" -}}
{{ include "natter.awaitPostgres" . }}
name=natter-$(date -u +%Y%m%dT%H%M%SZ)
psql "$URL" -XqAt -v ON_ERROR_STOP=1 -c "SELECT format('CREATE ROLE %I;', rolname) FROM pg_roles
  WHERE rolname LIKE 'natter\\_%' AND rolname <> current_user" > "$name.roles.sql"
pg_dump --format=custom --file="$name.part" --dbname="$URL"
mv "$name.part" "$name.dump"
ls -1 natter-*.dump | head -n -{{ .Values.backup.keep }} | while read -r old; do rm -f "$old" "${old%.dump}.roles.sql"; done
echo "$name.dump: $(wc -c < "$name.dump") bytes; $(ls -1 natter-*.dump | wc -l) dumps"
{{- end -}}

{{- /* Runs after the dump. The image may have no shell. */ -}}
{{- define "natter.copyContainer" -}}
{{- $copy := .Values.backup.copy -}}
- name: copy
  image: {{ $copy.image }}
  {{- with $copy.command }}
  command: {{ . | toJson }}
  {{- end }}
  {{- with $copy.args }}
  args: {{ . | toJson }}
  {{- end }}
  workingDir: /backup
  env:
    - { name: HOME, value: /tmp }
    {{- range $key, $value := $copy.env }}
    - name: {{ $key }}
      value: {{ include "natter.settingValue" $value | quote }}
    {{- end }}
  {{- with $copy.existingSecret }}
  envFrom:
    - secretRef: { name: {{ . }} }
  {{- end }}
  securityContext:
    {{- include "natter.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml .Values.backup.resources | nindent 4 }}
  volumeMounts:
    - { name: backup, mountPath: /backup, readOnly: true }
    - { name: tmp, mountPath: /tmp }
{{- end -}}

{{- /* The comment is written first, so that a second attempt knows what is in the database. */ -}}
{{- define "natter.restoreScript" -}}
{{- $latest := eq .Values.backup.restore "latest" -}}
file={{ ternary "$(ls -1 natter-*.dump | tail -n 1)" .Values.backup.restore $latest }}
[ -s "$file" ] || { echo "there is no dump ${file:-natter-*.dump} on the claim" >&2; exit 1; }
{{ include "natter.awaitPostgres" . }}
ask() { psql "$URL" -XqAt -v ON_ERROR_STOP=1 -c "$1"; }
mark=$(ask "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()")
if [ "$(ask "SELECT count(*) FROM pg_namespace WHERE nspname = 'log'")" != 0 ]; then
  case $mark in "natter: restor"*) echo "nothing to restore ($mark)"; exit 0 ;; esac
  echo 'the database is not empty: remove its data, or set backup.restore to "" to go on with them' >&2
  exit 1
fi
ask "DO \$\$ BEGIN EXECUTE format('COMMENT ON DATABASE %I IS %L', current_database(), 'natter: restoring $file'); END \$\$"
psql "$URL" -Xq -f "${file%.dump}.roles.sql"
pg_restore --single-transaction --exit-on-error --no-owner --dbname="$URL" "$file"
echo "restored $file"
{{- end -}}
