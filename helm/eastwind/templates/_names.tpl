{{/* The beginning of all names. */}}
{{- define "eastwind.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change, of all objects or, with "component", of one service. Takes root, component. */}}
{{- define "eastwind.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* All labels of an object. Takes root, component. */}}
{{- define "eastwind.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "eastwind.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: eastwind
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "eastwind.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "eastwind.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "eastwind.image" -}}
{{- $image := .Values.image -}}
{{- $name := printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag | toString) -}}
{{- if $image.digest -}}{{ printf "%s@%s" $name $image.digest }}{{- else -}}{{ $name }}{{- end -}}
{{- end -}}

{{/*
A value as the text of a variable. Numbers of values files arrive as floating point: they are written out in full, never
as 8.64e+07.
*/}}
{{- define "eastwind.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) -}}{{ printf "%.0f" . }}{{- else -}}{{ regexReplaceAll "0+$" (printf "%.9f" .) "" }}{{- end -}}
{{- else if kindIs "slice" . -}}
{{- join "," . -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* The component list of files/components.yaml, each merged with `defaults` and its own values, as YAML by name. */}}
{{- define "eastwind.components" -}}
{{- $root := . -}}
{{- $all := dict -}}
{{- range $name, $facts := .Files.Get "files/components.yaml" | fromYaml -}}
{{- $own := default dict (index $root.Values.components $name) -}}
{{- $_ := set $all $name (mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy $own) (dict "facts" $facts)) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* The secret with the certificate of a service. Takes root, name. */}}
{{- define "eastwind.certificateSecret" -}}
{{- $mtls := .root.Values.mtls -}}
{{- if eq $mtls.source "cert-manager" -}}
{{- printf "%s-%s-tls" (include "eastwind.fullname" .root) .name -}}
{{- else -}}
{{- default $mtls.existingSecret (index $mtls.existingSecrets .name) -}}
{{- end -}}
{{- end -}}

{{/* The grace period of a pod: what comes before SIGTERM, the drain, and what the process takes to end. Takes component. */}}
{{- define "eastwind.gracePeriod" -}}
{{- add .drain.preStopSeconds .drain.graceSeconds 15 -}}
{{- end -}}

{{/* Kafka's ports for the NetworkPolicy, as a JSON list. */}}
{{- define "eastwind.kafkaPorts" -}}
{{- $ports := list -}}
{{- range .Values.kafka.ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- if not $ports -}}
{{- range .Values.kafka.bootstrap -}}{{- $ports = append $ports (splitList ":" . | last | int) -}}{{- end -}}
{{- end -}}
{{- toJson ($ports | uniq) -}}
{{- end -}}
