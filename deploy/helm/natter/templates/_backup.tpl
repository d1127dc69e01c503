{{- /*
Command lines are readable for other processes: the password of $URL goes to PGPASSWORD. Network policies know a new pod only after a
while. The Job's deadline ends the wait.
*/ -}}
{{- define "natter.connect" -}}
# Replaces each %XX by the byte that it stands for.
decoded() {
  encoded=$1
  while [ "$encoded" != "${encoded#*%}" ]; do
    printf %s "${encoded%%"%"*}"
    encoded=${encoded#*%}
    printf %b "\\0$(printf %03o "0x${encoded%"${encoded#??}"}")"
    encoded=${encoded#??}
  done
  printf %s "$encoded"
}
authority=${URL#*://}
authority=${authority%%[/?]*}
case $authority in *:*@*)
  user=${authority%@*}
  export PGPASSWORD="$(decoded "${user#*:}")"
  URL="${URL%%://*}://${user%%:*}${URL#*://"$user"}" ;;
esac
until psql "$URL" -Xqc ''; do sleep 2; done
ask() { psql "$URL" -XqAt -v ON_ERROR_STOP=1 -c "$1"; }
{{- end -}}

{{- /*
The roles come first: rights of the dump name them. A dump that is not whole has another name. No Job runs longer than its deadline,
so that nothing writes an older part any more.
*/ -}}
{{- define "natter.backupScript" -}}
{{ include "natter.connect" . }}
if [ "$(ask "SELECT to_regclass('log.clock') IS NOT NULL")" != t ] || [ "$(ask 'SELECT EXISTS (SELECT FROM log.clock)')" != t ]; then
  echo 'the database has no realm: there is nothing to back up' >&2
  exit 1
fi
name=natter-$(date -u +%Y%m%dT%H%M%SZ)
trap 'rm -f "$name.part" "$name.roles.part"' EXIT
trap 'exit 1' TERM
prune() {
  ls -1 natter-*.dump 2> /dev/null | head -n -{{ .Values.backup.keep }} | while read -r old; do rm -f "$old" "${old%.dump}.roles.sql"; done
}
find . -maxdepth 1 -name 'natter-*.part' -mmin +{{ div .Values.backup.activeDeadlineSeconds 60 | add1 }} -delete
prune
ask "SELECT format('CREATE ROLE %I;', rolname) FROM pg_roles
  WHERE rolname LIKE 'natter\\_%' AND rolname <> current_user" > "$name.roles.part"
# In the background, so that the shell is told at once to stop.
pg_dump --format=custom --file="$name.part" --dbname="$URL" &
wait $!
mv "$name.roles.part" "$name.roles.sql"
mv "$name.part" "$name.dump"
prune
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

{{- /*
The comment is written first, so that a second attempt knows what is in the database. Roles belong to the server: those of a release
that runs can log in already, and would write before the new epoch. `migrate --set-passwords` lets them in again.
*/ -}}
{{- define "natter.restoreScript" -}}
{{- $latest := eq .Values.backup.restore "latest" -}}
{{ include "natter.connect" . }}
mark=$(ask "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()")
if [ "$(ask "SELECT count(*) FROM pg_namespace WHERE nspname = 'log'")" != 0 ]; then
  case $mark in "natter: restor"*) echo "nothing to restore ($mark)"; exit 0 ;; esac
  echo 'the database is not empty: remove its data, or set backup.restore to "" to go on with them' >&2
  exit 1
fi
file={{ ternary "$(ls -1 natter-*.dump | tail -n 1)" .Values.backup.restore $latest }}
[ -s "$file" ] || { echo "there is no dump ${file:-natter-*.dump} on the claim" >&2; exit 1; }
pg_restore --list "$file" | grep ' TABLE log clock ' > /dev/null || { echo "$file has no data of Natter: name another dump" >&2; exit 1; }
services="'natter_users', 'natter_channels', 'natter_messaging', 'natter_event_queue', 'natter_presence'"
others=$(ask "SELECT DISTINCT datname FROM pg_stat_activity WHERE usename IN ($services) AND datname <> current_database()")
[ -z "$others" ] || { echo "services use other databases of this server ($others) with the same roles: stop them first" >&2; exit 1; }
ask "DO \$\$ BEGIN EXECUTE format('COMMENT ON DATABASE %I IS %L', current_database(), 'natter: restoring $file'); END \$\$"
psql "$URL" -Xq -f "${file%.dump}.roles.sql"
close=$(ask "SELECT format('ALTER ROLE %I NOLOGIN;', rolname) FROM pg_roles WHERE rolname IN ($services)")
ask "$close"
sessions="FROM pg_stat_activity WHERE usename IN ($services) AND datname = current_database()"
for try in 1 2 3 4 5 6 7 8 9 10; do
  ask "SELECT count(pg_terminate_backend(pid)) $sessions" > /dev/null 2>&1 || true
  open=$(ask "SELECT count(*) $sessions")
  [ "$open" != 0 ] || break
  sleep 3
done
[ "$open" = 0 ] || { echo "services are connected to the database, and its owner may not end their sessions: stop them" >&2; exit 1; }
# pg_restore 17 and newer sets transaction_timeout, which older servers do not know. It ends with COMMIT only if it read the whole dump;
# without COMMIT, psql ends well and leaves nothing.
pg_restore --single-transaction --no-owner --file=- "$file" |
  sed '1,/^SET client_encoding/{/^SET transaction_timeout = 0;$/d;}' |
  psql "$URL" -Xq -v ON_ERROR_STOP=1 -o /dev/null
[ "$(ask "SELECT to_regclass('log.clock') IS NOT NULL")" = t ] || { echo "$file cannot be read to its end: name another dump" >&2; exit 1; }
echo "restored $file"
{{- end -}}
