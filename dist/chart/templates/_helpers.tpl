{{- define "cluster-sync-operator.amount" }}
{{- $exponents := (dict "n" -9 "u" -6 "m" -3 "k" 3 "M" 6 "G" 9 "T" 12 "P" 15 "E" 18) }}
{{- $multiples := (dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606847000) }}
{{- $number := regexFind "^[0-9.]+" . }}
{{- $suffix := trimPrefix $number . }}
{{- if hasKey $exponents $suffix }}{{ float64 (printf "%se%d" $number (get $exponents $suffix)) }}
{{- else if hasKey $multiples $suffix }}{{ mulf (float64 $number) (get $multiples $suffix) }}
{{- else }}{{ float64 . }}
{{- end -}}
{{- end }}

{{- define "cluster-sync-operator.fullname" }}
{{- (regexReplaceAll "-+$" (trunc 46 (ternary $.Values.fullnameOverride (ternary $.Release.Name (printf "%s-%s" $.Release.Name (include "cluster-sync-operator.name" $)) (contains (include "cluster-sync-operator.name" $) $.Release.Name)) (not (empty $.Values.fullnameOverride)))) "") -}}
{{- end }}

{{- define "cluster-sync-operator.labels" }}
{{- (toRawJson (fromJson (include "cluster-sync-operator.merged" (list $.Values.commonLabels (dict "app.kubernetes.io/name" (include "cluster-sync-operator.name" $) "app.kubernetes.io/instance" $.Release.Name "app.kubernetes.io/version" $.Chart.AppVersion "app.kubernetes.io/part-of" "clustersync.io" "app.kubernetes.io/managed-by" $.Release.Service))))) -}}
{{- end }}

{{- define "cluster-sync-operator.memberPerLine" }}
{{- $lines := list }}
{{- range $key, $value := . }}
{{- $lines = append $lines (printf "  %s: %s" (toRawJson $key) (toRawJson $value)) }}
{{- end }}
{{- printf "{\n%s\n}" (join ",\n" $lines) -}}
{{- end }}

{{- define "cluster-sync-operator.merged" }}
{{- $merged := dict }}
{{- range $layer := . }}
{{- range $key, $value := $layer }}
{{- $_ := set $merged $key $value }}
{{- end }}
{{- end }}
{{- toRawJson $merged -}}
{{- end }}

{{- define "cluster-sync-operator.milliseconds" }}
{{- $units := (dict "y" 31536000000 "w" 604800000 "d" 86400000 "h" 3600000 "m" 60000 "s" 1000 "ms" 1) }}
{{- $sum := 0.0 }}
{{- range $part := regexFindAll "[0-9]+[a-z]+" . -1 }}
{{- $unit := regexReplaceAll "^[0-9]+" $part "" }}
{{- $sum = addf $sum (mulf (float64 (trimSuffix $unit $part)) (get $units $unit)) }}
{{- end }}
{{- $sum -}}
{{- end }}

{{- define "cluster-sync-operator.name" }}
{{- (ternary $.Values.nameOverride "cluster-sync-operator" (not (empty $.Values.nameOverride))) -}}
{{- end }}

{{- define "cluster-sync-operator.plucked" }}
{{- $plucked := list }}
{{- $key := .key }}
{{- range $element := .list }}
{{- $plucked = append $plucked (get $element $key) }}
{{- end }}
{{- toRawJson $plucked -}}
{{- end }}

{{- define "cluster-sync-operator.settings" }}
namespace: {{ toRawJson $.Release.Namespace }}
fullname: {{ toRawJson (include "cluster-sync-operator.fullname" $) }}
development: {{ toRawJson (eq $.Values.controller.logDevMode "true") }}
logLevel: {{ toRawJson $.Values.controller.logLevel }}
leaderElection: {{ toRawJson $.Values.leaderElection.enabled }}
watchNamespaces:
  {{- toYaml $.Values.watchNamespaces | nindent 2 }}
watchLabelSelector:
  matchLabels:
    {{- toYaml $.Values.controller.watchLabelSelector.matchLabels | nindent 4 }}
  matchExpressions:
    {{- toYaml $.Values.controller.watchLabelSelector.matchExpressions | nindent 4 }}
ports:
  receiver: {{ toRawJson $.Values.webhookReceiver.port }}
  admission: {{ toRawJson $.Values.webhook.port }}
  metrics: {{ toRawJson $.Values.metrics.service.port }}
  probes: 8081
  delivery: {{ toRawJson $.Values.delivery.port }}
source:
  folder: "/var/lib/cluster-sync/mirrors"
  sizeLimit: {{ toRawJson (include "cluster-sync-operator.text" $.Values.source.storage.sizeLimit) }}
  allowedHosts:
    {{- toYaml $.Values.source.allowedHosts | nindent 4 }}
  allowPrivateAddresses: {{ toRawJson $.Values.source.allowPrivateAddresses }}
  allowedAddresses:
    {{- toYaml $.Values.source.allowedAddresses | nindent 4 }}
  {{- if not (empty $.Values.source.proxy) }}
  proxy: {{ toRawJson $.Values.source.proxy }}
  {{- end }}
  noProxy: {{ toRawJson $.Values.source.noProxy }}
delivery:
  url: {{ toRawJson (printf "https://%s-delivery.%s.svc:%s" (include "cluster-sync-operator.fullname" $) $.Release.Namespace (include "cluster-sync-operator.text" $.Values.delivery.port)) }}
certificates:
  {{- if and (empty $.Values.webhook.existingSecret) (not $.Values.certManager.enabled) }}
  kind: selfManaged
  secretName: {{ toRawJson (ternary $.Values.webhook.existingSecret (printf "%s-certificate" (include "cluster-sync-operator.fullname" $)) (not (empty $.Values.webhook.existingSecret))) }}
  {{- else }}
  kind: mounted
  folder: "/etc/cluster-sync/certificate"
  tellsWebhook: {{ toRawJson (not (empty $.Values.webhook.existingSecret)) }}
  {{- end }}
dnsNames:
  - {{ toRawJson (printf "%s-webhook.%s.svc" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-webhook.%s.svc.cluster.local" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-delivery.%s.svc" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-delivery.%s.svc.cluster.local" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-metrics.%s.svc" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-metrics.%s.svc.cluster.local" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  {{- if $.Values.statusPage.enabled }}
  - {{ toRawJson (printf "%s-status-page.%s.svc" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  - {{ toRawJson (printf "%s-status-page.%s.svc.cluster.local" (include "cluster-sync-operator.fullname" $) $.Release.Namespace) }}
  {{- end }}
injection:
  enabled: {{ toRawJson $.Values.webhook.enabled }}
  webhookConfiguration: {{ toRawJson (include "cluster-sync-operator.fullname" $) }}
agent:
  image: {{ toRawJson (printf "%s:%s" $.Values.agentImage.repository (ternary $.Values.agentImage.tag $.Chart.AppVersion (not (empty $.Values.agentImage.tag)))) }}
  imagePullPolicy: {{ toRawJson $.Values.image.pullPolicy }}
  imagePullSecrets:
    {{- toYaml $.Values.imagePullSecrets | nindent 4 }}
  resources:
    {{- if or (not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.requests)))) (not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.limits)))) }}
    {{- if not (or (not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.requests)))) (not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.limits))))) }}
    {}
    {{- end }}
    {{- if not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.requests))) }}
    requests:
      {{- toYaml (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.requests)) | nindent 6 }}
    {{- end }}
    {{- if not (empty (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.limits))) }}
    limits:
      {{- toYaml (fromJson (include "cluster-sync-operator.texts" $.Values.agent.resources.limits)) | nindent 6 }}
    {{- end }}
    {{- else }}
    requests:
      cpu: "10m"
      memory: "64Mi"
    limits:
      memory: "256Mi"
    {{- end }}
  {{- if $.Values.agent.guaranteed.enabled }}
  guaranteed:
    cpu: {{ toRawJson (include "cluster-sync-operator.text" $.Values.agent.guaranteed.cpu) }}
    memory: {{ toRawJson (include "cluster-sync-operator.text" $.Values.agent.guaranteed.memory) }}
  {{- end }}
  securityContext:
    {{- toYaml $.Values.agent.securityContext | nindent 4 }}
  logLevel: {{ toRawJson $.Values.agent.logLevel }}
  allowImageOverride: {{ toRawJson $.Values.agent.allowImageOverride }}
  clusterRole: {{ toRawJson (printf "%s-agent" (include "cluster-sync-operator.fullname" $)) }}
  autoBind: {{ toRawJson $.Values.rbac.autoBindAgent.enabled }}
receiver:
  enabled: {{ toRawJson $.Values.webhookReceiver.enabled }}
  {{- if and $.Values.webhookReceiver.enabled (or (not (empty $.Values.webhookReceiver.hmac.secretRef.name)) (not (empty $.Values.webhookReceiver.hmac.secret))) }}
  hmacFile: "/etc/cluster-sync/receiver/hmac/value"
  {{- end }}
  {{- if and $.Values.webhookReceiver.enabled (or (not (empty $.Values.webhookReceiver.token.secretRef.name)) (not (empty $.Values.webhookReceiver.token.secret))) }}
  tokenFile: "/etc/cluster-sync/receiver/token/value"
  {{- end }}
  trustedProxies:
    {{- toYaml $.Values.webhookReceiver.trustedProxies | nindent 4 }}
notifications:
  {{- if empty $.Values.notifications }}
  []
  {{- end }}
  {{- range $notificationKey, $notification := $.Values.notifications }}
  - name: {{ toRawJson $notification.name }}
    type: {{ toRawJson $notification.type }}
    folder: {{ toRawJson (printf "/etc/cluster-sync/notifications/%s" $notification.name) }}
    {{- if hasKey $notification "events" }}
    events: {{ toRawJson $notification.events }}
    {{- end }}
    {{- if hasKey $notification "namespaces" }}
    namespaces: {{ toRawJson $notification.namespaces }}
    {{- end }}
  {{- end }}
metrics:
  enabled: {{ toRawJson $.Values.metrics.enabled }}
{{- if $.Values.statusPage.enabled }}
statusPage:
  port: {{ toRawJson $.Values.statusPage.port }}
  {{- if $.Values.statusPage.proxy.enabled }}
  proxy:
    secretFile: "/etc/cluster-sync/status-page/value"
    userHeader: {{ toRawJson $.Values.statusPage.proxy.userHeader }}
    groupsHeader: {{ toRawJson $.Values.statusPage.proxy.groupsHeader }}
    userPrefix: {{ toRawJson $.Values.statusPage.proxy.userPrefix }}
    groupsPrefix: {{ toRawJson $.Values.statusPage.proxy.groupsPrefix }}
  {{- end }}
  {{- if $.Values.statusPage.oidc.enabled }}
  oidc:
    issuer: {{ toRawJson $.Values.statusPage.oidc.issuer }}
    clientId: {{ toRawJson $.Values.statusPage.oidc.clientId }}
    secretFolder: "/etc/cluster-sync/status-page-login"
    externalURL: {{ toRawJson $.Values.statusPage.oidc.externalURL }}
    scopes:
      {{- toYaml $.Values.statusPage.oidc.scopes | nindent 6 }}
    usernameClaim: {{ toRawJson $.Values.statusPage.oidc.usernameClaim }}
    groupsClaim: {{ toRawJson $.Values.statusPage.oidc.groupsClaim }}
    usernamePrefix: {{ toRawJson $.Values.statusPage.oidc.usernamePrefix }}
    groupsPrefix: {{ toRawJson $.Values.statusPage.oidc.groupsPrefix }}
    sessionLifetime: {{ toRawJson $.Values.statusPage.oidc.sessionLifetime }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "cluster-sync-operator.text" }}
{{- ternary . (toRawJson .) (kindIs "string" .) -}}
{{- end }}

{{- define "cluster-sync-operator.texts" }}
{{- $texts := dict }}
{{- range $key, $value := . }}
{{- $_ := set $texts $key (include "cluster-sync-operator.text" $value) }}
{{- end }}
{{- toRawJson $texts -}}
{{- end }}

{{- define "cluster-sync-operator.withoutEmpty" }}
{{- $present := dict }}
{{- range $key, $value := . }}
{{- if ne $value "" }}
{{- $_ := set $present $key $value }}
{{- end }}
{{- end }}
{{- toRawJson $present -}}
{{- end }}
