{{/*
Warnings about values that have no effect, have less effect than expected, or are risky. `cdk8s synth` (infra/values/warnings.ts) prints the same, and
also warns about changed values in disabled sections, because it knows their defaults.
*/}}
{{- define "cluster-sync-operator.warnings" -}}
{{- $warnings := list }}
{{- $v := .Values }}
{{- $unpublished := "no image is published under the default name; build and push the images as docs/how-to/install.md#images describes, and set this value to the location of yours" }}
{{- /* In a release, the name of its registry replaces clustersync/. */}}
{{- if hasPrefix "clustersync/" $v.image.repository }}
{{- $warnings = append $warnings (printf "image.repository: %s" $unpublished) }}
{{- end }}
{{- if and $v.webhook.enabled (hasPrefix "clustersync/" $v.agentImage.repository) }}
{{- $warnings = append $warnings (printf "agentImage.repository: %s" $unpublished) }}
{{- end }}

{{- if $v.webhookReceiver.enabled }}
{{- range $name, $default := dict "hmac" "webhook-secret" "token" "webhook-token" }}
{{- $key := get $v.webhookReceiver $name }}
{{- if and $key.secret $key.secretRef.name }}
{{- $warnings = append $warnings (printf "webhookReceiver.%s.secret: ignored because secretRef is set" $name) }}
{{- else if $key.secret }}
{{- $warnings = append $warnings (printf "webhookReceiver.%s.secret: is written into the manifests in plain text; use secretRef if they are committed to git" $name) }}
{{- end }}
{{- if and (not $key.secretRef.name) (ne $key.secretRef.key $default) }}
{{- $warnings = append $warnings (printf "webhookReceiver.%s.secretRef.key: no effect while webhookReceiver.%s.secretRef.name is empty" $name $name) }}
{{- end }}
{{- end }}
{{- if include "cluster-sync-operator.receiverIsOpen" . }}
{{- $warnings = append $warnings "webhookReceiver: neither hmac nor token is configured; anyone who can reach the receiver can trigger syncs" }}
{{- end }}
{{- end }}
{{- if and $v.statusPage.enabled (not $v.statusPage.proxy.enabled) (not $v.statusPage.oidc.enabled) }}
{{- $warnings = append $warnings "statusPage: no login is configured; anyone who can reach the page sees every GatewaySync and gateway" }}
{{- end }}
{{- range $section := list "webhookReceiver" "statusPage" }}
{{- $values := get $v $section }}
{{- if and $values.enabled $values.ingress.enabled }}
{{- $hosts := list }}
{{- range $values.ingress.hosts }}{{ $hosts = append $hosts (.host | default "") }}{{ end }}
{{- range $i, $entry := $values.ingress.tls }}
{{- range $host := $entry.hosts }}
{{- if not (has $host $hosts) }}
{{- $warnings = append $warnings (printf "%s.ingress.tls.%d.hosts: %s is not in %s.ingress.hosts" $section $i $host $section) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- if and $v.prometheusRule.enabled (not $v.serviceMonitor.enabled) }}
{{- $warnings = append $warnings "prometheusRule.enabled: the alerts need the metrics that serviceMonitor.enabled collects" }}
{{- end }}
{{- with $v.serviceMonitor }}
{{- if and .enabled (not .token.secretRef.name) (ne .token.secretRef.key "token") }}
{{- $warnings = append $warnings "serviceMonitor.token.secretRef.key: no effect while serviceMonitor.token.secretRef.name is empty" }}
{{- end }}
{{- if and .enabled $v.networkPolicy.enabled (not $v.networkPolicy.metrics.from) }}
{{- $warnings = append $warnings "networkPolicy.metrics.from: a Prometheus in another namespace is blocked unless its pod or namespace has the label clustersync.io/metrics-reader=true" }}
{{- end }}
{{- end }}
{{- range $section := list "serviceMonitor" "podMonitor" }}
{{- with get $v $section }}
{{- if and .enabled .scrapeTimeout (not .interval) }}
{{- $warnings = append $warnings (printf "%s.scrapeTimeout: set %s.interval too; a timeout above the monitoring system's default interval is refused" $section $section) }}
{{- end }}
{{- end }}
{{- end }}

{{- $replicas := int $v.replicaCount }}
{{- $waits := and $v.webhook.enabled (eq $v.webhook.failurePolicy "Fail") }}
{{- if eq $replicas 0 }}
{{- $warnings = append $warnings (printf "replicaCount: with 0 replicas nothing is synced%s" (ternary ", and pods that request an agent are refused" "" $waits)) }}
{{- else if eq $replicas 1 }}
{{- if and $v.podDisruptionBudget.enabled (gt (int $v.podDisruptionBudget.minAvailable) 1) }}
{{- $warnings = append $warnings "podDisruptionBudget.minAvailable: no effect with one replica; no budget is created" }}
{{- end }}
{{- if $waits }}
{{- $warnings = append $warnings "webhook.failurePolicy: with one replica, pods that request an agent are refused while the controller restarts" }}
{{- end }}
{{- end }}

{{- range $key := list "app.kubernetes.io/name" "app.kubernetes.io/instance" }}
{{- if hasKey $v.podLabels $key }}
{{- $warnings = append $warnings (printf "podLabels: %s is ignored, because the Deployment uses it to select its pods" $key) }}
{{- end }}
{{- end }}
{{- range $i, $constraint := $v.topologySpreadConstraints }}
{{- if not (hasKey $constraint "labelSelector") }}
{{- $warnings = append $warnings (printf "topologySpreadConstraints.%d: no effect without a labelSelector" $i) }}
{{- end }}
{{- end }}
{{- if and (not $v.serviceAccount.create) $v.serviceAccount.annotations }}
{{- $warnings = append $warnings "serviceAccount.annotations: no effect while serviceAccount.create is false" }}
{{- end }}
{{- if and (eq $v.controller.logDevMode "true") (ne $v.controller.logLevel "info") }}
{{- $warnings = append $warnings "controller.logLevel: no effect while controller.logDevMode is \"true\", which logs every level" }}
{{- end }}
{{- if and $v.hostNetwork $v.networkPolicy.enabled }}
{{- $warnings = append $warnings "networkPolicy.enabled: no effect with hostNetwork" }}
{{- end }}
{{- if and $v.hostNetwork (eq $v.dnsPolicy "ClusterFirst") }}
{{- $warnings = append $warnings "dnsPolicy: with hostNetwork, ClusterFirst does not resolve Services; leave it empty" }}
{{- end }}
{{- range $key, $_ := include "cluster-sync-operator.ownLabels" . | fromYaml }}
{{- if hasKey $v.commonLabels $key }}
{{- $warnings = append $warnings (printf "commonLabels: %s is ignored, because the operator sets it" $key) }}
{{- end }}
{{- end }}
{{- $namespaces := len $v.watchNamespaces }}
{{- if gt $namespaces 32 }}
{{- $warnings = append $warnings (printf "watchNamespaces: %d namespaces need two or three watches each; leave the list empty to watch all namespaces, or raise resources.limits.memory by 512Ki per namespace" $namespaces) }}
{{- end }}
{{- if not $v.crds.install }}
{{- $warnings = append $warnings "crds.install: no effect here; omit CrdChart, or run Helm with --skip-crds" }}
{{- end }}
{{- toYaml $warnings }}
{{- end }}
