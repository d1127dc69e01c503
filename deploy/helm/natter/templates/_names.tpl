{{- define "natter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "natter.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "natter.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "natter.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "natter.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{- define "natter.gatewayUrl" -}}
http://{{ include "natter.fullname" . }}-gateway:{{ .Values.gateway.service.port }}
{{- end -}}

{{- /* The port of a URL */ -}}
{{- define "natter.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}

{{- /* What never changes over the life of a release: {root, component} */ -}}
{{- define "natter.selector" -}}
app.kubernetes.io/name: {{ include "natter.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- /* Of pods: without versions, so that a pod is replaced only when its own image or settings change. */ -}}
{{- define "natter.podLabels" -}}
{{ include "natter.selector" . }}
app.kubernetes.io/part-of: natter
{{- end -}}

{{- define "natter.labels" -}}
{{ include "natter.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- /* A tag has up to 128 characters and may begin with "_", a version may have a "+": a label may not. */}}
app.kubernetes.io/version: {{ regexReplaceAll "^[^A-Za-z0-9]+|[^A-Za-z0-9]+$" (trunc 63 (.root.Values.image.tag | default .root.Chart.AppVersion)) "" | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "natter.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "natter.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- /* The Secret of a service: {root, name, existing} */ -}}
{{- define "natter.secret" -}}
{{- .existing | default (printf "%s-%s-credentials" (include "natter.fullname" .root) .name) -}}
{{- end -}}

{{- define "natter.hpaVersion" -}}
{{- if or (.Capabilities.APIVersions.Has "autoscaling/v2/HorizontalPodAutoscaler") (semverCompare ">=1.23-0" .Capabilities.KubeVersion.Version) -}}autoscaling/v2{{- else -}}autoscaling/v2beta2{{- end -}}
{{- end -}}

{{- define "natter.pdbVersion" -}}
{{- if or (.Capabilities.APIVersions.Has "policy/v1/PodDisruptionBudget") (semverCompare ">=1.21-0" .Capabilities.KubeVersion.Version) -}}policy/v1{{- else -}}policy/v1beta1{{- end -}}
{{- end -}}

{{- define "natter.cronVersion" -}}
{{- if or (.Capabilities.APIVersions.Has "batch/v1/CronJob") (semverCompare ">=1.21-0" .Capabilities.KubeVersion.Version) -}}batch/v1{{- else -}}batch/v1beta1{{- end -}}
{{- end -}}

{{- /* "yes" where KEDA scales: {root, service} */ -}}
{{- define "natter.usesKeda" -}}
{{- if and (.root.Capabilities.APIVersions.Has "keda.sh/v1alpha1") .root.Values.autoscaling.prometheusAddress .service.autoscaling.query -}}yes{{- end -}}
{{- end -}}

{{- /*
What a scaled Deployment has: minReplicas at first, then what its autoscaler decided. Without a number it would begin with one,
and an upgrade from a chart that gave one would fall back to one. {root, name, autoscaling}
*/ -}}
{{- define "natter.runningReplicas" -}}
{{- $live := lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" (include "natter.fullname" .root) .name) | default dict -}}
{{- $running := int (($live.spec | default dict).replicas | default 0) -}}
{{- min (max $running (int .autoscaling.minReplicas)) (int .autoscaling.maxReplicas) -}}
{{- end -}}
