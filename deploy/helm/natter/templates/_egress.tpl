{{- define "natter.nameServers" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end -}}

{{- /* What a component reaches: {root, name} */ -}}
{{- define "natter.egress" -}}
{{- $root := .root }}
{{- $name := .name }}
{{- $policy := $root.Values.networkPolicy }}
{{- if eq $name "canary" }}
{{- $ports := list "80" "443" "9991" }}
{{- with $root.Values.canaryUrl }}{{ $ports = append $ports (include "natter.portOf" .) | uniq }}{{ end }}
- ports:
    {{- range $ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- else }}
{{- $servers := list "redis" "nats" }}
{{- if ne $name "gateway" }}{{ $servers = prepend $servers "postgres" }}{{ end }}
{{- if eq $name "users" }}{{ $servers = append $servers "mail" }}{{ end }}
{{- if eq $name "scheduler" }}{{ $servers = append $servers "webhooks" }}{{ end }}
{{- if eq $name "messaging" }}{{ $servers = append $servers "externalContent" }}{{ end }}
{{- if and (eq $name "operator") $root.Values.backup.enabled $root.Values.backup.copy.image }}{{ $servers = append $servers "backupCopy" }}{{ end }}
{{- range $server := $servers }}
{{- $place := index $policy $server }}
- ports:
    {{- range $place.ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with $place.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- if eq $name "operator" }}
- ports:
    - { port: 9991, protocol: TCP }
  to:
    - podSelector:
        matchLabels:
          {{- include "natter.selector" (dict "root" $root "component" "gateway") | nindent 10 }}
{{- end }}
{{- if and $root.Values.tracing.endpoint (ne $name "operator") }}
{{- /* A policy compares the port of the pod, which may differ from that of its Service. */}}
- ports:
    {{- range list "4318" (include "natter.portOf" $root.Values.tracing.endpoint) | uniq }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}
