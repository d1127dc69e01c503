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

{{- /* Helm reads numbers as floats: a large one must not become 1e+06. */ -}}
{{- define "natter.settingValue" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else }}{{ . }}{{ end -}}
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
  value: {{ join "," .root.Values.gateway.trustedProxies | quote }}
{{- end }}
{{- if eq .name "canary" }}
- name: NATTER_CANARY_URL
  value: {{ .root.Values.canaryUrl | default (printf "http://%s-gateway:%v" (include "natter.fullname" .root) .root.Values.gateway.service.port) | quote }}
{{- end }}
{{- if ne .name "canary" }}
{{- range $key, $value := .root.Values.settings }}
- name: {{ $key }}
  value: {{ include "natter.settingValue" $value | quote }}
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
