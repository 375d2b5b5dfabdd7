{{- define "cluster-sync-operator.name" -}}
{{- .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{/* Truncated so that the longest suffix, -webhook-receiver, fits into the 63 characters of a Service name. */}}
{{- define "cluster-sync-operator.fullname" -}}
{{- $name := include "cluster-sync-operator.name" . }}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- .Values.fullnameOverride | default $full | trunc 46 | trimAll "-" }}
{{- end }}

{{- define "cluster-sync-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "cluster-sync-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "cluster-sync-operator.ownLabels" -}}
{{ include "cluster-sync-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: clustersync.io
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end }}

{{/* Merges a list of maps into one, in JSON; later maps take precedence. */}}
{{- define "cluster-sync-operator.overlay" -}}
{{- $result := dict }}
{{- range $layer := . }}
{{- range $key, $value := $layer }}
{{- $_ := set $result $key $value }}
{{- end }}
{{- end }}
{{- toRawJson $result }}
{{- end }}

{{/*
Labels and annotations of an object: those of the installation, and its own, which take precedence.
Usage: include "cluster-sync-operator.metadata" (dict "root" $ "labels" (dict) "annotations" (dict))
*/}}
{{- define "cluster-sync-operator.metadata" -}}
{{- $ownLabels := include "cluster-sync-operator.ownLabels" .root | fromYaml }}
labels:
  {{- include "cluster-sync-operator.overlay" (list .root.Values.commonLabels $ownLabels .labels) | fromJson | toYaml | nindent 2 }}
{{- with include "cluster-sync-operator.overlay" (list .root.Values.commonAnnotations .annotations) | fromJson }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "cluster-sync-operator.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "cluster-sync-operator.fullname" .) }}
{{- end }}

{{/* The controller as the API server names it. */}}
{{- define "cluster-sync-operator.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "cluster-sync-operator.serviceAccountName" . }}
{{- end }}

{{/* Usage: include "cluster-sync-operator.image" (list $ .Values.image) */}}
{{- define "cluster-sync-operator.image" -}}
{{- $root := index . 0 }}
{{- $image := index . 1 }}
{{- $image.repository }}:{{ $image.tag | default $root.Chart.AppVersion }}
{{- end }}

{{/* Who issues the certificate of the TLS ports: existing-secret, cert-manager or controller. */}}
{{- define "cluster-sync-operator.certificateSource" -}}
{{- if .Values.webhook.existingSecret }}existing-secret{{ else if .Values.certManager.enabled }}cert-manager{{ else }}controller{{ end }}
{{- end }}

{{- define "cluster-sync-operator.certificateSecret" -}}
{{- .Values.webhook.existingSecret | default (printf "%s-certificate" (include "cluster-sync-operator.fullname" .)) }}
{{- end }}

{{/* The DNS names of the certificate. The status page is included only if it is enabled, because a new name means a new certificate. */}}
{{- define "cluster-sync-operator.certificateNames" -}}
{{- range ternary (list "webhook" "delivery" "metrics" "status-page") (list "webhook" "delivery" "metrics") .Values.statusPage.enabled }}
- {{ include "cluster-sync-operator.fullname" $ }}-{{ . }}.{{ $.Release.Namespace }}.svc
- {{ include "cluster-sync-operator.fullname" $ }}-{{ . }}.{{ $.Release.Namespace }}.svc.cluster.local
{{- end }}
{{- end }}

{{/* A list of the open ports, each with its name and the value that sets it. */}}
{{- define "cluster-sync-operator.openPorts" -}}
- {name: delivery, key: delivery.port, port: {{ .Values.delivery.port }}}
{{- if .Values.webhook.enabled }}
- {name: admission, key: webhook.port, port: {{ .Values.webhook.port }}}
{{- end }}
{{- if .Values.webhookReceiver.enabled }}
- {name: receiver, key: webhookReceiver.port, port: {{ .Values.webhookReceiver.port }}}
{{- end }}
{{- if .Values.metrics.enabled }}
- {name: metrics, key: metrics.service.port, port: {{ .Values.metrics.service.port }}}
{{- end }}
{{- if .Values.statusPage.enabled }}
- {name: status-page, key: statusPage.port, port: {{ .Values.statusPage.port }}}
{{- end }}
{{- end }}

{{/* A label selector without empty fields. */}}
{{- define "cluster-sync-operator.selector" -}}
{{- $selector := dict }}
{{- with .matchLabels }}{{ $_ := set $selector "matchLabels" . }}{{ end }}
{{- with .matchExpressions }}{{ $_ := set $selector "matchExpressions" . }}{{ end }}
{{- toYaml $selector }}
{{- end }}

{{/*
A Service of the controller.
Usage: include "cluster-sync-operator.service" (dict "root" $ "name" … "port" … "portName" … "targetPort" … "values" … "component" …)
*/}}
{{- define "cluster-sync-operator.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "cluster-sync-operator.fullname" .root }}-{{ .name }}
  namespace: {{ .root.Release.Namespace | quote }}
  {{- $labels := dict }}
  {{- with .component }}{{ $labels = dict "app.kubernetes.io/component" . }}{{ end }}
  {{- include "cluster-sync-operator.metadata" (dict "root" .root "labels" $labels "annotations" .values.annotations) | nindent 2 }}
spec:
  type: {{ .values.type }}
  selector:
    {{- include "cluster-sync-operator.selectorLabels" .root | nindent 4 }}
  ports:
    - name: {{ .portName }}
      port: {{ .port }}
      targetPort: {{ .targetPort }}
      protocol: TCP
{{- end }}

{{/*
The Ingress in front of a Service, with the Service's name.
Usage: include "cluster-sync-operator.ingress" (dict "root" $ "name" … "port" … "values" …)
*/}}
{{- define "cluster-sync-operator.ingress" -}}
{{- $service := printf "%s-%s" (include "cluster-sync-operator.fullname" .root) .name }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $service }}
  namespace: {{ .root.Release.Namespace | quote }}
  {{- include "cluster-sync-operator.metadata" (dict "root" .root "annotations" .values.annotations) | nindent 2 }}
spec:
  {{- with .values.ingressClassName }}
  ingressClassName: {{ . | quote }}
  {{- end }}
  rules:
    {{- range .values.hosts }}
    - http:
        paths:
          {{- range .paths }}
          - path: {{ .path | quote }}
            pathType: {{ .pathType }}
            backend:
              service:
                name: {{ $service }}
                port:
                  number: {{ $.port }}
          {{- end }}
      {{- with .host }}
      host: {{ . | quote }}
      {{- end }}
    {{- end }}
  {{- with .values.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
