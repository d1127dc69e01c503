{{- /* One random text per release, kept over upgrades; all passwords of the evaluation's servers come from it. */ -}}
{{- define "natter.evaluation.secret" -}}
{{- if not (hasKey .Values.evaluation "_secret") -}}
{{- $kept := lookup "v1" "Secret" .Release.Namespace (printf "%s-evaluation" (include "natter.fullname" .)) -}}
{{- $secret := randAlphaNum 40 -}}
{{- if $kept -}}{{- $secret = index $kept.data "secret" | b64dec -}}{{- end -}}
{{- $_ := set .Values.evaluation "_secret" $secret -}}
{{- end -}}
{{- index .Values.evaluation "_secret" -}}
{{- end -}}

{{- /* {root, user} */ -}}
{{- define "natter.evaluation.password" -}}
{{- printf "%s %s" (include "natter.evaluation.secret" .root) .user | sha256sum | trunc 40 -}}
{{- end -}}

{{- define "natter.evaluation.schemas" -}}
users: users
channels: channels
messaging: messaging
scheduler: messaging
presence: presence
event-queue: event_queue
{{- end -}}

{{- define "natter.evaluation.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 999
  runAsGroup: 999
  fsGroup: 999
  seccompProfile:
    type: RuntimeDefault
{{- end -}}
