{{/* One variable. Takes name, value. */}}
{{- define "eastwind.variable" -}}
- name: {{ .name }}
  value: {{ include "eastwind.text" .value | quote }}
{{- end -}}

{{/* One variable from a secret. Takes name, secret, key. */}}
{{- define "eastwind.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{- end -}}

{{/* How a service reaches its database. Takes root, name. */}}
{{- define "eastwind.databaseEnvironment" -}}
{{- $postgresql := .root.Values.postgresql -}}
{{- $database := index $postgresql.databases .name -}}
{{- $secret := default $postgresql.existingSecret $database.existingSecret -}}
{{- $url := printf "postgresql://%s:%s/%s?ssl=%s" $postgresql.host (include "eastwind.text" $postgresql.port) $database.name $postgresql.sslMode -}}
{{ include "eastwind.variable" (dict "name" "EASTWIND_DATABASE_URL" "value" $url) }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_DATABASE_USERNAME" "secret" $secret "key" $postgresql.usernameKey) }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_DATABASE_PASSWORD" "secret" $secret "key" $postgresql.passwordKey) }}
{{- if $postgresql.authoritySecret }}
{{ include "eastwind.variable" (dict "name" "PGSSLROOTCERT" "value" "/etc/eastwind/postgresql/ca.crt") }}
{{- end }}
{{- end -}}

{{/* How a service reaches the brokers. Takes root. */}}
{{- define "eastwind.kafkaEnvironment" -}}
{{- $kafka := .root.Values.kafka -}}
{{ include "eastwind.variable" (dict "name" "EASTWIND_KAFKA_BOOTSTRAP" "value" $kafka.bootstrap) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_KAFKA_IDEMPOTENT" "value" $kafka.idempotent) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_KAFKA_SECURITY" "value" $kafka.securityProtocol) }}
{{- if hasPrefix "SASL" $kafka.securityProtocol }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_KAFKA_SASL_MECHANISM" "value" $kafka.saslMechanism) }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_KAFKA_USERNAME" "secret" $kafka.existingSecret "key" $kafka.usernameKey) }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_KAFKA_PASSWORD" "secret" $kafka.existingSecret "key" $kafka.passwordKey) }}
{{- end }}
{{- if $kafka.authoritySecret }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_KAFKA_AUTHORITY" "value" "/etc/eastwind/kafka/ca.crt") }}
{{- end }}
{{- end -}}

{{/* How a service reaches Redis. Takes root. */}}
{{- define "eastwind.redisEnvironment" -}}
{{- $redis := .root.Values.redis -}}
{{- $url := printf "%s://%s:%s/%s" (ternary "rediss" "redis" $redis.tls) $redis.host (include "eastwind.text" $redis.port) (include "eastwind.text" $redis.database) -}}
{{ include "eastwind.variable" (dict "name" "EASTWIND_REDIS_URL" "value" $url) }}
{{- if $redis.existingSecret }}
{{- if $redis.usernameKey }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_REDIS_USERNAME" "secret" $redis.existingSecret "key" $redis.usernameKey) }}
{{- end }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_REDIS_PASSWORD" "secret" $redis.existingSecret "key" $redis.passwordKey) }}
{{- end }}
{{- if $redis.authoritySecret }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_REDIS_AUTHORITY" "value" "/etc/eastwind/redis/ca.crt") }}
{{- end }}
{{- end -}}

{{/* The origins of the players' pages, comma separated. */}}
{{- define "eastwind.allowedOrigins" -}}
{{- $origins := .Values.allowedOrigins -}}
{{- if and (not $origins) .Values.ingress.enabled -}}
{{- range .Values.ingress.hosts -}}
{{- $origins = append $origins (printf "%s://%s" (ternary "https" "http" (not (empty $.Values.ingress.tls.secretName))) .) -}}
{{- end -}}
{{- end -}}
{{- join "," $origins -}}
{{- end -}}

{{/* All variables of a service. Takes root, name, component, components. */}}
{{- define "eastwind.environment" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $facts := .component.facts -}}
- name: EASTWIND_ADVERTISE_HOST
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- if eq $name "table" }}
- name: EASTWIND_ROLLOUT
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['pod-template-hash']
{{- end }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_HOST" "value" "0.0.0.0") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_GRPC_PORT" "value" "50051") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_HTTP_PORT" "value" "8080") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_DRAIN_GRACE_S" "value" .component.drain.graceSeconds) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_LOG_LEVEL" "value" $root.Values.telemetry.logLevel) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_LOG_FORMAT" "value" "json") }}
{{- with $root.Values.telemetry.otlp.endpoint }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_OTLP_ENDPOINT" "value" .) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_TRACE_RATIO" "value" $root.Values.telemetry.otlp.ratio) }}
{{- end }}
{{ include "eastwind.secretVariable" (dict "name" "EASTWIND_SERVICE_KEY" "secret" $root.Values.serviceKey.existingSecret "key" $root.Values.serviceKey.key) }}
{{- range $callee, $component := .components }}
{{- if has $name $component.facts.callers }}
{{ include "eastwind.variable" (dict "name" (printf "EASTWIND_%s_ADDRESS" (upper $callee)) "value" (printf "dns:///%s-%s.%s.svc.%s:50051" (include "eastwind.fullname" $root) $callee $root.Release.Namespace $root.Values.clusterDomain)) }}
{{- end }}
{{- end }}
{{- if $facts.redis }}
{{ include "eastwind.redisEnvironment" (dict "root" $root) }}
{{- end }}
{{- if $facts.kafka }}
{{ include "eastwind.kafkaEnvironment" (dict "root" $root) }}
{{- end }}
{{- if $facts.database }}
{{ include "eastwind.databaseEnvironment" (dict "root" $root "name" $name) }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_DATABASE_MIGRATE" "value" false) }}
{{- end }}
{{- if $facts.edge }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_EDGE_HOST" "value" "0.0.0.0") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_EDGE_PORT" "value" "8808") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_PROXIES" "value" (ternary $root.Values.ingress.proxies 0 $root.Values.ingress.enabled)) }}
{{- with include "eastwind.allowedOrigins" $root }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_ALLOWED_ORIGINS" "value" .) }}
{{- end }}
{{- end }}
{{- if and (eq $name "accounts") $root.Values.signingKey.existingSecret }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_SIGNING_KEY_FILE" "value" "/etc/eastwind/signing/key.pem") }}
{{- end }}
{{- if $root.Values.mtls.enabled }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_TLS_CERTIFICATE" "value" "/etc/eastwind/tls/tls.crt") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_TLS_KEY" "value" "/etc/eastwind/tls/tls.key") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_TLS_AUTHORITY" "value" "/etc/eastwind/tls/ca.crt") }}
{{ include "eastwind.variable" (dict "name" "EASTWIND_TLS_WORKER_NAME" "value" (printf "%s-table" (include "eastwind.fullname" $root))) }}
{{- end }}
{{- range $field, $value := .component.settings }}
{{ include "eastwind.variable" (dict "name" (printf "EASTWIND_%s" (upper $field)) "value" $value) }}
{{- end }}
{{- with .component.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
