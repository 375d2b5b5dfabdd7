{{/* The settings of the controller's process. */}}
{{- define "cluster-sync-operator.settings" -}}
{{- $fullname := include "cluster-sync-operator.fullname" . }}
{{- $certificates := include "cluster-sync-operator.certificateSource" . }}
namespace: {{ .Release.Namespace | quote }}
fullname: {{ $fullname | quote }}
development: {{ eq .Values.controller.logDevMode "true" }}
logLevel: {{ .Values.controller.logLevel }}
leaderElection: {{ .Values.leaderElection.enabled }}
watchNamespaces:
  {{- toYaml .Values.watchNamespaces | nindent 2 }}
watchLabelSelector:
  {{- toYaml .Values.controller.watchLabelSelector | nindent 2 }}
ports:
  receiver: {{ .Values.webhookReceiver.port }}
  admission: {{ .Values.webhook.port }}
  metrics: {{ .Values.metrics.service.port }}
  probes: 8081
  delivery: {{ .Values.delivery.port }}
source:
  folder: /var/lib/cluster-sync/mirrors
  sizeLimit: {{ .Values.source.storage.sizeLimit | toJson }}
  allowedHosts:
    {{- toYaml .Values.source.allowedHosts | nindent 4 }}
  allowPrivateAddresses: {{ .Values.source.allowPrivateAddresses }}
  allowedAddresses:
    {{- toYaml .Values.source.allowedAddresses | nindent 4 }}
  {{- with .Values.source.proxy }}
  proxy: {{ . | quote }}
  {{- end }}
  noProxy: {{ .Values.source.noProxy | toJson }}
delivery:
  url: https://{{ $fullname }}-delivery.{{ .Release.Namespace }}.svc:{{ .Values.delivery.port }}
certificates:
  {{- if eq $certificates "controller" }}
  kind: selfManaged
  secretName: {{ include "cluster-sync-operator.certificateSecret" . }}
  {{- else }}
  kind: mounted
  folder: /etc/cluster-sync/certificate
  writesCaBundle: {{ eq $certificates "existing-secret" }}
  {{- end }}
dnsNames:
  {{- include "cluster-sync-operator.certificateNames" . | nindent 2 }}
injection:
  enabled: {{ .Values.webhook.enabled }}
  webhookConfiguration: {{ $fullname | quote }}
agent:
  image: {{ include "cluster-sync-operator.image" (list . .Values.agentImage) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  imagePullSecrets:
    {{- toYaml .Values.imagePullSecrets | nindent 4 }}
  resources:
    {{- include "cluster-sync-operator.agentResources" .Values.agent.resources | nindent 4 }}
  {{- with .Values.agent.guaranteed }}
  {{- if .enabled }}
  guaranteed:
    cpu: {{ .cpu | toJson }}
    memory: {{ .memory | toJson }}
  {{- end }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.agent.securityContext | nindent 4 }}
  logLevel: {{ .Values.agent.logLevel }}
  allowImageOverride: {{ .Values.agent.allowImageOverride }}
  clusterRole: {{ $fullname }}-agent
  autoBind: {{ .Values.rbac.autoBindAgent.enabled }}
receiver:
  enabled: {{ .Values.webhookReceiver.enabled }}
  {{- range include "cluster-sync-operator.receiverKeys" . | fromYamlArray }}
  {{ .name }}File: /etc/cluster-sync/receiver/{{ .name }}/value
  {{- end }}
  trustedProxies:
    {{- toYaml .Values.webhookReceiver.trustedProxies | nindent 4 }}
notifications:
  {{- range .Values.notifications }}
  - {{- omit . "secretRef" | toYaml | nindent 4 }}
    folder: /etc/cluster-sync/notifications/{{ .name }}
  {{- else }}
  []
  {{- end }}
metrics:
  enabled: {{ .Values.metrics.enabled }}
{{- with .Values.statusPage }}
{{- if .enabled }}
statusPage:
  port: {{ .port }}
  trustedProxies:
    {{- toYaml .trustedProxies | nindent 4 }}
  {{- if .proxy.enabled }}
  proxy:
    secretFile: /etc/cluster-sync/status-page/value
    {{- omit .proxy "enabled" "secretRef" | toYaml | nindent 4 }}
  {{- end }}
  {{- if .oidc.enabled }}
  oidc:
    secretFolder: /etc/cluster-sync/status-page-login
    {{- omit .oidc "enabled" "secretRef" | toYaml | nindent 4 }}
  {{- end }}
  {{- with .clusters }}
  clusters:
    {{- range . }}
    - {{- omit . "kubeconfig" | toYaml | nindent 6 }}
      kubeconfigFile: /etc/cluster-sync/clusters/{{ .name }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{ end }}

{{/* JSON with one top-level member per line, so that a changed setting is a one-line diff. */}}
{{- define "cluster-sync-operator.settingsJson" -}}
{{- $lines := list }}
{{- range $key, $value := include "cluster-sync-operator.settings" . | fromYaml }}
{{- $lines = append $lines (printf "  %s: %s" (toRawJson $key) (toRawJson $value)) }}
{{- end }}
{{- printf "{\n%s\n}" (join ",\n" $lines) }}
{{- end }}

{{/* The resources from the values, or the default resources if the values contain none. */}}
{{- define "cluster-sync-operator.agentResources" -}}
{{- $given := dict }}
{{- with .requests }}{{ $_ := set $given "requests" . }}{{ end }}
{{- with .limits }}{{ $_ := set $given "limits" . }}{{ end }}
{{- /* No CPU limit: with a limit of 200m, a first sync takes seven times as long. */}}
{{- toYaml ($given | default (dict "requests" (dict "cpu" "10m" "memory" "64Mi") "limits" (dict "memory" "256Mi"))) }}
{{- end }}

{{/* A list of the webhook receiver's keys, each with its name and the Secret and key that hold it. */}}
{{- define "cluster-sync-operator.receiverKeys" -}}
{{- range $name, $key := pick .Values.webhookReceiver "hmac" "token" }}
{{- if $.Values.webhookReceiver.enabled }}
{{- if $key.secretRef.name }}
- {name: {{ $name }}, secretName: {{ $key.secretRef.name | quote }}, key: {{ $key.secretRef.key | quote }}}
{{- else if $key.secret }}
- {name: {{ $name }}, secretName: {{ include "cluster-sync-operator.fullname" $ }}-receiver, key: {{ $name }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
