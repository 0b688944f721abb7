{{/* The probes of a container. Takes root, component. The kubelet has no certificate, so with mTLS it asks by HTTP. */}}
{{- define "eastwind.probes" -}}
{{- $grpc := and .component.facts.grpc (not .root.Values.mtls.enabled) -}}
{{- range $probe, $question := dict "startup" (dict "service" "" "path" "/readyz") "readiness" (dict "service" "readiness" "path" "/readyz") "liveness" (dict "service" "liveness" "path" "/healthz") }}
{{ $probe }}Probe:
  {{- if $grpc }}
  grpc:
    port: 50051
    service: {{ $question.service | quote }}
  {{- else }}
  httpGet:
    port: http
    path: {{ $question.path }}
  {{- end }}
  {{- range $field, $value := index $.root.Values.probes $probe }}
  {{ $field }}: {{ int64 $value }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* What every pod has in common. Takes root. */}}
{{- define "eastwind.podBase" -}}
serviceAccountName: {{ .serviceAccount | default (include "eastwind.serviceAccountName" .root) }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- end -}}

{{/* What every container has in common. Takes root. */}}
{{- define "eastwind.containerBase" -}}
image: {{ include "eastwind.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml .root.Values.containerSecurityContext | nindent 2 }}
{{- end -}}

{{/* The volume for temporary files. Takes root. */}}
{{- define "eastwind.tmpVolume" -}}
- name: tmp
  emptyDir:
    medium: Memory
    sizeLimit: {{ .root.Values.tmpSizeLimit }}
{{- end -}}

{{/* Mounts of the certificates that stores, brokers and databases are checked against. Takes root, redis, kafka, database. */}}
{{- define "eastwind.authorityMounts" -}}
{{- if and .kafka .root.Values.kafka.authoritySecret }}
- {name: kafka-authority, mountPath: /etc/eastwind/kafka, readOnly: true}
{{- end }}
{{- if and .redis .root.Values.redis.authoritySecret }}
- {name: redis-authority, mountPath: /etc/eastwind/redis, readOnly: true}
{{- end }}
{{- if and .database .root.Values.postgresql.authoritySecret }}
- {name: postgresql-authority, mountPath: /etc/eastwind/postgresql, readOnly: true}
{{- end }}
{{- end -}}

{{/* Their volumes. Takes root, redis, kafka, database. */}}
{{- define "eastwind.authorityVolumes" -}}
{{- range $kind, $wanted := dict "redis" .redis "kafka" .kafka "postgresql" .database }}
{{- $values := index $.root.Values $kind }}
{{- if and $wanted $values.authoritySecret }}
- name: {{ $kind }}-authority
  secret:
    secretName: {{ $values.authoritySecret }}
    defaultMode: 0440
    items: [{key: {{ $values.authorityKey | quote }}, path: ca.crt}]
{{- end }}
{{- end }}
{{- end -}}

{{/* The pod of a service. Takes root, name, component, components. */}}
{{- define "eastwind.pod" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $outside := dict "root" $root "redis" $component.facts.redis "kafka" $component.facts.kafka "database" $component.facts.database -}}
{{- $signing := and (eq .name "accounts") $root.Values.signingKey.existingSecret -}}
metadata:
  labels:
    {{- include "eastwind.selector" (dict "root" $root "component" .name) | nindent 4 }}
    {{- with merge (dict) $component.podLabels $root.Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $component.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "eastwind.podBase" (dict "root" $root) | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "eastwind.gracePeriod" $component }}
  {{- with $component.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $component.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $component.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $component.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $component.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      matchLabelKeys: [pod-template-hash]
      labelSelector:
        matchLabels:
          {{- include "eastwind.selector" (dict "root" $root "component" $.name) | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ .name }}
      {{- include "eastwind.containerBase" (dict "root" $root) | nindent 6 }}
      command: [python, -m, services.{{ .name }}]
      env:
        {{- include "eastwind.environment" . | nindent 8 }}
      ports:
        {{- if $component.facts.grpc }}
        - name: grpc
          containerPort: 50051
        {{- end }}
        - name: http
          containerPort: 8080
        {{- if $component.facts.edge }}
        - name: edge
          containerPort: 8808
        {{- end }}
      {{- include "eastwind.probes" (dict "root" $root "component" $component) | nindent 6 }}
      {{- if $component.drain.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int64 $component.drain.preStopSeconds }}
      {{- end }}
      resources:
        {{- toYaml $component.resources | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if $root.Values.mtls.enabled }}
        - name: tls
          mountPath: /etc/eastwind/tls
          readOnly: true
        {{- end }}
        {{- include "eastwind.authorityMounts" $outside | nindent 8 }}
        {{- if $signing }}
        - name: signing-key
          mountPath: /etc/eastwind/signing
          readOnly: true
        {{- end }}
  volumes:
    {{- include "eastwind.tmpVolume" (dict "root" $root) | nindent 4 }}
    {{- if $root.Values.mtls.enabled }}
    - name: tls
      secret:
        secretName: {{ include "eastwind.certificateSecret" (dict "root" $root "name" .name) }}
        defaultMode: 0440
    {{- end }}
    {{- include "eastwind.authorityVolumes" $outside | nindent 4 }}
    {{- if $signing }}
    - name: signing-key
      secret:
        secretName: {{ $root.Values.signingKey.existingSecret }}
        defaultMode: 0440
        items: [{key: {{ $root.Values.signingKey.key | quote }}, path: key.pem}]
    {{- end }}
{{- end -}}
