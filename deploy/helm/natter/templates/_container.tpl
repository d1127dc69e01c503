{{- define "natter.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "natter.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "natter.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Where a pod that is no service may run: on the nodes of `defaults`. Pod affinities concern services alone. */ -}}
{{- define "natter.placement" -}}
{{- with .Values.defaults.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.defaults.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.defaults.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (.Values.defaults.affinity | default dict).nodeAffinity }}
affinity:
  nodeAffinity:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- /* The pod of a command of the operator, without its containers. */ -}}
{{- define "natter.operatorPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: Never
securityContext:
  {{- include "natter.podSecurity" . | nindent 2 }}
{{- include "natter.pullSecrets" . }}
{{- with include "natter.placement" . | trim }}
{{ . }}
{{- end }}
{{- end -}}

{{- /* {root, name, args}: the natter command with the credentials of the operator */ -}}
{{- define "natter.operatorContainer" -}}
- name: {{ .name }}
  image: {{ include "natter.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ .args | toJson }}
  securityContext:
    {{- include "natter.containerSecurity" .root | nindent 4 }}
  envFrom:
    - secretRef:
        name: {{ include "natter.secret" (dict "root" .root "name" "operator" "existing" .root.Values.operator.existingSecret) }}
  resources:
    {{- toYaml .root.Values.migrations.resources | nindent 4 }}
{{- end -}}

{{- /* {root, name, script}: tools of Postgres, with the claim of the backups at /backup */ -}}
{{- define "natter.postgresContainer" -}}
- name: {{ .name }}
  image: {{ .root.Values.backup.image }}
  command: [sh, -eu, -c]
  args:
    - |
      {{- .script | trim | nindent 6 }}
  workingDir: /backup
  env:
    - { name: HOME, value: /tmp }
    - name: URL
      valueFrom:
        secretKeyRef:
          name: {{ include "natter.secret" (dict "root" .root "name" "operator" "existing" .root.Values.operator.existingSecret) }}
          key: NATTER_POSTGRES_ADMIN_URL
  securityContext:
    {{- include "natter.containerSecurity" .root | nindent 4 }}
  resources:
    {{- toYaml .root.Values.backup.resources | nindent 4 }}
  volumeMounts:
    - { name: backup, mountPath: /backup }
    - { name: tmp, mountPath: /tmp }
{{- end -}}

{{- define "natter.backupVolumes" -}}
- name: backup
  persistentVolumeClaim:
    claimName: {{ .Values.backup.existingClaim | default (printf "%s-backup" (include "natter.fullname" .)) }}
- name: tmp
  emptyDir: {}
{{- end -}}

{{- /* Helm reads numbers as floats: a large one must not become 1e+06. */ -}}
{{- define "natter.settingValue" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else }}{{ . }}{{ end -}}
{{- end -}}

{{- /* Only a Service inside the cluster hides the gateway from clients whose connections arrive from a node's address. */ -}}
{{- define "natter.trustedProxies" -}}
{{- $given := .Values.gateway.trustedProxies -}}
{{- if not (kindIs "invalid" $given) }}{{ join "," $given -}}
{{- else if eq .Values.gateway.service.type "ClusterIP" }}10.0.0.0/8,172.16.0.0/12,192.168.0.0/16{{ end -}}
{{- end -}}

{{- /* What a proxy must let through: a file of the largest size with its form, and forms without a file. */ -}}
{{- define "natter.largestBody" -}}
{{- $env := merge (dict) (.Values.services.gateway.env | default dict) .Values.defaults.env .Values.settings -}}
{{- max 26 (add1 (int $env.NATTER_MAX_UPLOAD_MIB)) -}}m
{{- end -}}

{{- /* Environment of a service: {root, name, service} */ -}}
{{- define "natter.env" -}}
- name: NATTER_LOG_LEVEL
  value: {{ .root.Values.logLevel | quote }}
- name: NATTER_DRAIN_MS
  value: {{ .service.drainMilliseconds | quote }}
{{- if .root.Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .root.Values.tracing.endpoint | quote }}
{{- end }}
{{- if eq .name "gateway" }}
- name: NATTER_TRUSTED_PROXIES
  value: {{ include "natter.trustedProxies" .root | quote }}
{{- end }}
{{- if eq .name "canary" }}
- name: NATTER_CANARY_URL
  value: {{ .root.Values.canaryUrl | default (printf "http://%s-gateway:%v" (include "natter.fullname" .root) .root.Values.gateway.service.port) | quote }}
{{- end }}
{{- $own := .service.env }}
{{- if ne .name "canary" }}
{{- range $key, $value := .root.Values.settings }}
{{- if not (hasKey $own $key) }}
- name: {{ $key }}
  value: {{ include "natter.settingValue" $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq .name "users" }}
{{- with .root.Values.mail.from }}
- name: NATTER_MAIL_FROM
  value: {{ . | quote }}
{{- end }}
{{- with .root.Values.mail.existingSecret }}
- name: NATTER_SMTP_URL
  valueFrom:
    secretKeyRef: { name: {{ . }}, key: NATTER_SMTP_URL }
{{- end }}
{{- end }}
{{- range $key, $value := .service.env }}
- name: {{ $key }}
  value: {{ include "natter.settingValue" $value | quote }}
{{- end }}
{{- end -}}
