{{- /* A quantity of Kubernetes as a number: "1.5Gi", "250m", "1e9", 2 */ -}}
{{- define "natter.quantity" -}}
{{- $factors := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- if kindIs "string" . -}}
{{- $suffix := regexFind "[KMGTPE]i$|[mkMGTPE]$" . -}}
{{- $number := float64 (trimSuffix $suffix .) -}}
{{- if $suffix }}{{ $number = mulf $number (get $factors $suffix) }}{{ end -}}
{{- printf "%f" $number -}}
{{- else -}}
{{- printf "%f" (float64 .) -}}
{{- end -}}
{{- end -}}

{{- /* Requests above limits: {path, resources} */ -}}
{{- define "natter.checkResources" -}}
{{- $path := .path -}}
{{- $requests := .resources.requests | default dict -}}
{{- $limits := .resources.limits | default dict -}}
{{- range $kind := list "cpu" "memory" "ephemeral-storage" -}}
{{- if and (hasKey $requests $kind) (hasKey $limits $kind) -}}
{{- if gt (float64 (include "natter.quantity" (get $requests $kind))) (float64 (include "natter.quantity" (get $limits $kind))) }}
- {{ $path }}.requests.{{ $kind }} ({{ get $requests $kind }}) is above its limit ({{ get $limits $kind }})
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The Secret that a credential belongs into: {root, name, service}; without a service, by who reads it. */ -}}
{{- define "natter.secretOfCredential" -}}
{{- $full := include "natter.fullname" .root -}}
{{- $reader := .service -}}
{{- if not $reader -}}
{{- if regexMatch "SMTP|BOT_KEY" .name }}{{ $reader = "users" -}}
{{- else if regexMatch "CANARY" .name }}{{ $reader = "canary" -}}
{{- else if regexMatch "ADMIN|POSTGRES_PASSWORD|^NATTER_SECRET$" .name }}{{ $reader = "operator" -}}
{{- else }}{{ $reader = "SERVICE" }}{{ end -}}
{{- end -}}
{{- $given := "" -}}
{{- if eq $reader "operator" }}{{ $given = .root.Values.operator.existingSecret -}}
{{- else if ne $reader "SERVICE" }}{{ $given = get (get .root.Values.services $reader) "existingSecret" }}{{ end -}}
{{- include "natter.secret" (dict "root" .root "name" $reader "existing" $given) -}}
{{- if and (eq .name "NATTER_SMTP_URL") (not .root.Values.mail.existingSecret) }} or the one that mail.existingSecret names{{ end -}}
{{- end -}}

{{- /* "yes" if a variable is a credential, and not the name of a file with one: {name, value} */ -}}
{{- define "natter.isCredential" -}}
{{- $isNamed := regexMatch "PASSWORD|PASSPHRASE|SECRET|TOKEN|(API|ACCESS|PRIVATE|ACCOUNT)_?KEY$|_PASS$|^OTEL_EXPORTER_OTLP_HEADERS$" .name -}}
{{- $isServer := regexMatch "^NATTER_(NATS|REDIS|POSTGRES|POSTGRES_ADMIN|SMTP)_URL$" .name -}}
{{- $isInUrl := regexMatch "://[^/@]*:[^/@]*@" (toString .value) -}}
{{- if or (and $isNamed (not (hasSuffix "_FILE" .name))) $isServer $isInUrl -}}yes{{- end -}}
{{- end -}}

{{- define "natter.checkCopy" -}}
{{- $copy := .Values.backup.copy -}}
{{- range $name, $value := $copy.env -}}
{{- if eq $name "HOME" }}
- backup.copy.env: HOME is set by the chart
{{- else if include "natter.isCredential" (dict "name" $name "value" $value) }}
- backup.copy.env.{{ $name }} is a credential: {{ if $copy.existingSecret }}put it into the Secret {{ $copy.existingSecret }}, key {{ $name }}{{ else }}put it into a Secret and name that in backup.copy.existingSecret{{ end }}
{{- end -}}
{{- end -}}
{{- if and $copy.image (not .Values.backup.enabled) }}
- backup.copy needs backup.enabled: it runs after the dump
{{- end -}}
{{- end -}}

{{- /* Credentials in plain sight, and settings that the chart makes from other values: {root, path, env, service} */ -}}
{{- define "natter.checkEnv" -}}
{{- $made := dict "NATTER_LOG_LEVEL" "logLevel" "NATTER_DRAIN_MS" "drainMilliseconds" "OTEL_EXPORTER_OTLP_ENDPOINT" "tracing.endpoint" "NATTER_TRUSTED_PROXIES" "gateway.trustedProxies" "NATTER_CANARY_URL" "canaryUrl" "NATTER_MAIL_FROM" "mail.from" -}}
{{- $fixed := list "NATTER_HTTP_HOST" "NATTER_HTTP_PORT" "NATTER_OPERATIONS_HOST" "NATTER_OPERATIONS_PORT" "NATTER_HTTP_FD" -}}
{{- $ := . -}}
{{- range $name, $value := .env -}}
{{- if include "natter.isCredential" (dict "name" $name "value" $value) }}
- {{ $.path }}.{{ $name }} is a credential: put it into the Secret {{ include "natter.secretOfCredential" (dict "root" $.root "name" $name "service" $.service) }}, key {{ $name }}
{{- else if hasKey $made $name }}
- {{ $.path }}.{{ $name }} is made from the value {{ get $made $name }}: set that one
{{- else if has $name $fixed }}
- {{ $.path }}.{{ $name }} is fixed by the chart: probes, Services and policies rely on it
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* {path, tolerations} */ -}}
{{- define "natter.checkTolerations" -}}
{{- $path := .path -}}
{{- range $index, $toleration := .tolerations -}}
{{- $operator := $toleration.operator | default "Equal" -}}
{{- if and (eq $operator "Exists") $toleration.value }}
- {{ $path }}[{{ $index }}].value must be absent: the operator is Exists
{{- end -}}
{{- if and (ne $operator "Exists") (not $toleration.key) }}
- {{ $path }}[{{ $index }}].key is missing: without a key the operator must be Exists
{{- end -}}
{{- if and (hasKey $toleration "tolerationSeconds") (ne ($toleration.effect | default "") "NoExecute") }}
- {{ $path }}[{{ $index }}].tolerationSeconds needs the effect NoExecute
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Labels and annotations that the chart sets itself: {path, map, prefix} */ -}}
{{- define "natter.checkReserved" -}}
{{- $ := . -}}
{{- range $key, $_ := .map -}}
{{- if regexMatch $.prefix $key }}
- {{ $.path }}: {{ $key }} is set by the chart
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* {path, given} */ -}}
{{- define "natter.checkPod" -}}
{{- include "natter.checkTolerations" (dict "path" (printf "%s.tolerations" .path) "tolerations" (.given.tolerations | default list)) -}}
{{- include "natter.checkReserved" (dict "path" (printf "%s.podAnnotations" .path) "map" (.given.podAnnotations | default dict) "prefix" "^natter\\.io/") -}}
{{- end -}}

{{- /* {path, range}: an IPv4 or IPv6 address and the length of a prefix; the schema has checked the characters. */ -}}
{{- define "natter.checkRange" -}}
{{- $parts := splitList "/" .range -}}
{{- $address := first $parts -}}
{{- $isFour := regexMatch "^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\\.|$)){4}$" $address -}}
{{- $groups := regexFindAll "[0-9a-fA-F]+" $address -1 -}}
{{- $colons := len (regexFindAll ":" $address -1) -}}
{{- $isSix := and (regexMatch "^[0-9a-fA-F:]+$" $address) (not (regexMatch "[0-9a-fA-F]{5}|:::|^:[^:]|[^:]:$" $address)) (le (len $groups) 8) -}}
{{- $isSix = and $isSix (ternary (and (le (len (regexFindAll "::" $address -1)) 1) (lt (len $groups) 8)) (and (eq $colons 7) (eq (len $groups) 8)) (contains "::" $address)) -}}
{{- $length := int (ternary (last $parts) "0" (gt (len $parts) 1)) -}}
{{- if or (not (or $isFour $isSix)) (gt $length (ternary 32 128 $isFour)) }}
- {{ .path }}: {{ .range }} is no {{ ternary "CIDR" "address" (contains "/" .range) }}
{{- end -}}
{{- end -}}

{{- /* {path, peers} */ -}}
{{- define "natter.checkPeers" -}}
{{- $path := .path -}}
{{- range $index, $peer := .peers -}}
{{- with $peer.ipBlock -}}
{{- include "natter.checkRange" (dict "path" (printf "%s[%d].ipBlock.cidr" $path $index) "range" .cidr) -}}
{{- range .except }}{{ include "natter.checkRange" (dict "path" (printf "%s[%d].ipBlock.except" $path $index) "range" .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "natter.checkRanges" -}}
{{- range $index, $range := .Values.gateway.trustedProxies -}}
{{- include "natter.checkRange" (dict "path" (printf "gateway.trustedProxies[%d]" $index) "range" $range) -}}
{{- end -}}
{{- range $index, $range := .Values.gateway.service.loadBalancerSourceRanges -}}
{{- include "natter.checkRange" (dict "path" (printf "gateway.service.loadBalancerSourceRanges[%d]" $index) "range" $range) -}}
{{- end -}}
{{- $policy := .Values.networkPolicy -}}
{{- range $name := list "apiFrom" "metricsFrom" -}}
{{- include "natter.checkPeers" (dict "path" (printf "networkPolicy.%s" $name) "peers" (get $policy $name)) -}}
{{- end -}}
{{- range $name := list "postgres" "redis" "nats" "mail" "backupCopy" "webhooks" "externalContent" -}}
{{- include "natter.checkPeers" (dict "path" (printf "networkPolicy.%s.to" $name) "peers" (get $policy $name).to) -}}
{{- end -}}
{{- end -}}

{{- /* {root, name, given, service} */ -}}
{{- define "natter.checkService" -}}
{{- $path := printf "services.%s" .name -}}
{{- $service := .service -}}
{{- $scaling := $service.autoscaling -}}
{{- $grace := int $service.terminationGracePeriodSeconds -}}
{{- $needed := add (int $service.preStopSeconds) (ceil (divf $service.drainMilliseconds 1000)) 25 -}}
{{- if lt $grace (int $needed) }}
- {{ $path }}.terminationGracePeriodSeconds must be at least {{ $needed }}: preStop, drain, and 25 s to answer what runs
{{- end -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) }}
- {{ $path }}.autoscaling.minReplicas ({{ $scaling.minReplicas }}) is above maxReplicas ({{ $scaling.maxReplicas }})
{{- end -}}
{{- if ne (empty $scaling.query) (empty $scaling.threshold) }}
- {{ $path }}.autoscaling: query and threshold belong together
{{- end -}}
{{- include "natter.checkResources" (dict "path" (printf "%s.resources" $path) "resources" $service.resources) -}}
{{- include "natter.checkEnv" (dict "root" .root "path" (printf "%s.env" $path) "env" (.given.env | default dict) "service" .name) -}}
{{- include "natter.checkPod" (dict "path" $path "given" .given) -}}
{{- end -}}

{{- define "natter.checkEntry" -}}
{{- $gateway := .Values.gateway.service -}}
{{- if and $gateway.nodePort (eq $gateway.type "ClusterIP") }}
- gateway.service.nodePort needs the type NodePort or LoadBalancer
{{- end -}}
{{- if and $gateway.externalTrafficPolicy (eq $gateway.type "ClusterIP") }}
- gateway.service.externalTrafficPolicy needs the type NodePort or LoadBalancer
{{- end -}}
{{- if and $gateway.loadBalancerSourceRanges (ne $gateway.type "LoadBalancer") }}
- gateway.service.loadBalancerSourceRanges needs the type LoadBalancer
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
- ingress.hosts is empty: name the hosts of the realms
{{- end -}}
{{- range concat .Values.ingress.hosts .Values.httpRoute.hostnames -}}
{{- if regexMatch "^[0-9.]+$" . }}
- {{ . }} is an address: hosts of an Ingress or HTTPRoute are names
{{- end -}}
{{- end -}}
{{- range $index, $tls := .Values.ingress.tls -}}
{{- range $tls.hosts -}}
{{- if not (or (has . $.Values.ingress.hosts) (has (regexReplaceAll "^[^.]+" . "*") $.Values.ingress.hosts)) }}
- ingress.tls[{{ $index }}].hosts: {{ . }} is no host of ingress.hosts
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
- httpRoute.parentRefs is empty: name the Gateway
{{- end -}}
{{- with .Values.httpRoute.timeouts -}}
{{- $request := include "natter.milliseconds" (.request | default "0s") | int64 -}}
{{- if and (gt $request 0) (gt (include "natter.milliseconds" (.backendRequest | default "0s") | int64) $request) }}
- httpRoute.timeouts.backendRequest, {{ .backendRequest }}, is longer than httpRoute.timeouts.request, {{ .request }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A duration of the Gateway API, such as 1h30m */ -}}
{{- define "natter.milliseconds" -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|h|m|s)" . -1 -}}
{{- $unit := get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) (regexFind "[a-z]+" .) -}}
{{- $sum = add $sum (mul (regexFind "[0-9]+" . | int64) $unit) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{- /* What a JSON schema can't say: one line for each fault. */ -}}
{{- define "natter.checks" -}}
{{- $full := include "natter.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $full) }}
- objects would be named {{ $full | quote }}, which Kubernetes refuses for a Service: set fullnameOverride
{{- end -}}
{{- range $name, $given := .Values.services -}}
{{- $service := mergeOverwrite (deepCopy $.Values.defaults) (deepCopy $given) -}}
{{- include "natter.checkService" (dict "root" $ "name" $name "given" $given "service" $service) -}}
{{- end -}}
{{- include "natter.checkEnv" (dict "root" . "path" "defaults.env" "env" .Values.defaults.env "service" "") -}}
{{- include "natter.checkEnv" (dict "root" . "path" "settings" "env" .Values.settings "service" "") -}}
{{- include "natter.checkResources" (dict "path" "migrations.resources" "resources" .Values.migrations.resources) -}}
{{- range $server, $resources := .Values.evaluation.resources -}}
{{- include "natter.checkResources" (dict "path" (printf "evaluation.resources.%s" $server) "resources" $resources) -}}
{{- end -}}
{{- include "natter.checkPod" (dict "path" "defaults" "given" .Values.defaults) -}}
{{- include "natter.checkEntry" . -}}
{{- include "natter.checkRanges" . -}}
{{- if and .Values.evaluation.enabled (not .Values.migrations.enabled) }}
- migrations.enabled must be true in evaluation mode: nothing else makes the schema
{{- end -}}
{{- if and .Values.backup.restore (not (or .Values.backup.enabled .Values.backup.existingClaim)) }}
- backup.restore needs the claim with the dump: set backup.enabled or backup.existingClaim
{{- end -}}
{{- if and .Values.backup.restore (not .Values.migrations.enabled) }}
- backup.restore needs migrations.enabled: their Job restores
{{- end -}}
{{- include "natter.checkCopy" . -}}
{{- include "natter.checkResources" (dict "path" "backup.resources" "resources" .Values.backup.resources) -}}
{{- if and .Values.serviceAccount.create (eq .Values.serviceAccount.name "default") }}
- serviceAccount.name: every namespace has a ServiceAccount "default"; set serviceAccount.create to false to use it
{{- end -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled }}
- monitoring: a PodMonitor and a ServiceMonitor would read every metric twice; switch one off
{{- end -}}
{{- range $kind := list "podMonitor" "serviceMonitor" "rules" "dashboards" -}}
{{- include "natter.checkReserved" (dict "path" (printf "monitoring.%s.labels" $kind) "map" (get $.Values.monitoring $kind).labels "prefix" "^app\\.kubernetes\\.io/(name|instance|component|part-of|managed-by|version)$|^helm\\.sh/chart$") -}}
{{- end -}}
{{- end -}}
