/**
 * Warnings about values that have no effect, have less effect than expected, or are risky. Pure.
 */
import * as v from 'valibot'
import { metricsReaderLabel } from '../../runtime/api/names.ts'
import { ownLabelKeys, selectorKeys } from '../names.ts'
import { type Values, valuesSchema } from '../values.ts'
import { when } from './combinations.ts'
import { isReceiverOpen } from './receiver-keys.ts'

/** One message per warning; each begins with the key that it is about. */
export function warningsOf(values: Values): string[] {
  return [
    ...withoutEffect(values, defaults),
    ...images(values),
    ...agents(values),
    ...receiver(values),
    ...statusPage(values),
    ...monitoring(values),
    ...replicas(values),
    ...pod(values),
    ...hostNetwork(values),
    ...labels(values),
    ...watches(values),
    ...when(!values.crds.install, 'crds.install: no effect here; omit CrdChart, or run Helm with --skip-crds'),
  ]
}

type Section = Record<string, unknown>

const defaults: Values = v.parse(valuesSchema, {})

/** Has an effect even if its section is turned off: the content server uses this certificate too. */
const independent: readonly string[] = ['webhook.existingSecret']

/** Changed values in sections that are turned off. `path` leads to the section; `off` is the switch of the outermost section that is off. */
function withoutEffect(section: Section, defaultSection: Section, path: readonly string[] = [], off?: string): string[] {
  const keyOf = (name: string): string => [...path, name].join('.')
  const outer = off ?? (section['enabled'] === false ? keyOf('enabled') : undefined)
  return Object.entries(defaultSection).flatMap(([name, defaultValue]) => {
    const value = section[name]
    if (isSection(defaultValue)) return withoutEffect(value as Section, defaultValue, [...path, name], outer)
    const turnedOff = name === 'enabled' ? off : outer
    const isChanged = JSON.stringify(value) !== JSON.stringify(defaultValue) && !independent.includes(keyOf(name))
    return when(isChanged && turnedOff !== undefined, `${keyOf(name)}: no effect while ${turnedOff} is false`)
  })
}

/** An object with fixed keys is a section; one without keys, such as the default of labels, is a value. */
function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

/** Names without a registry, as in infra/default-images.json. In a release, the name of its registry replaces it. */
const unpublishedPrefix = 'clustersync/'

/** Images with these names are never published. */
function images({ image, agentImage, webhook }: Values): string[] {
  const unpublished = (key: string): string =>
    `${key}: no image is published under the default name; build and push the images as docs/how-to/install.md#images describes, and set this value to the location of yours`
  return [
    ...when(image.repository.startsWith(unpublishedPrefix), unpublished('image.repository')),
    ...when(webhook.enabled && agentImage.repository.startsWith(unpublishedPrefix), unpublished('agentImage.repository')),
  ]
}

/** Without injection, no pod gets an agent. */
function agents({ webhook, agentImage, agent }: Values): string[] {
  if (webhook.enabled) return []
  return Object.entries({ agentImage, agent }).flatMap(([name, section]) =>
    withoutEffect(section, defaults[name as 'agent' | 'agentImage'], [name], 'webhook.enabled'),
  )
}

function receiver(values: Values): string[] {
  const { webhookReceiver } = values
  if (!webhookReceiver.enabled) return []
  return [
    ...(['hmac', 'token'] as const).flatMap((name) => receiverKey(name, webhookReceiver[name])),
    ...when(
      isReceiverOpen(values),
      'webhookReceiver: neither hmac nor token is configured; anyone who can reach the receiver can trigger syncs',
    ),
    ...certificateHosts('webhookReceiver', webhookReceiver.ingress),
  ]
}

function receiverKey(name: 'hmac' | 'token', { secret, secretRef }: Values['webhookReceiver']['hmac']): string[] {
  const where = `webhookReceiver.${name}`
  const isInline = secret !== ''
  if (secretRef.name !== '') return when(isInline, `${where}.secret: ignored because secretRef is set`)
  return [
    ...when(isInline, `${where}.secret: is written into the manifests in plain text; use secretRef if they are committed to git`),
    ...when(
      secretRef.key !== defaults.webhookReceiver[name].secretRef.key,
      `${where}.secretRef.key: no effect while ${where}.secretRef.name is empty`,
    ),
  ]
}

function statusPage({ statusPage: { enabled, ingress, proxy, oidc } }: Values): string[] {
  if (!enabled) return []
  return [
    ...when(
      !proxy.enabled && !oidc.enabled,
      'statusPage: no login is configured; anyone who can reach the page sees every GatewaySync and gateway',
    ),
    ...certificateHosts('statusPage', ingress),
  ]
}

function certificateHosts(section: string, { enabled, hosts, tls }: Values['statusPage']['ingress']): string[] {
  if (!enabled) return []
  const known = new Set(hosts.map(({ host }) => host))
  return tls.flatMap((entry, index) =>
    entry.hosts.flatMap((host) =>
      when(!known.has(host), `${section}.ingress.tls.${index}.hosts: ${host} is not in ${section}.ingress.hosts`),
    ),
  )
}

function monitoring({ prometheusRule, serviceMonitor, podMonitor, networkPolicy }: Values): string[] {
  const { name, key } = serviceMonitor.token.secretRef
  return [
    ...when(
      prometheusRule.enabled && !serviceMonitor.enabled,
      'prometheusRule.enabled: the alerts need the metrics that serviceMonitor.enabled collects',
    ),
    ...when(
      serviceMonitor.enabled && name === '' && key !== defaults.serviceMonitor.token.secretRef.key,
      'serviceMonitor.token.secretRef.key: no effect while serviceMonitor.token.secretRef.name is empty',
    ),
    ...Object.entries({ serviceMonitor, podMonitor }).flatMap(([section, { enabled, interval, scrapeTimeout }]) =>
      when(
        enabled && scrapeTimeout !== '' && interval === '',
        `${section}.scrapeTimeout: set ${section}.interval too; a timeout above the monitoring system's default interval is refused`,
      ),
    ),
    ...when(
      serviceMonitor.enabled && networkPolicy.enabled && networkPolicy.metrics.from.length === 0,
      `networkPolicy.metrics.from: a Prometheus in another namespace is blocked unless its pod or namespace has the label ${metricsReaderLabel.key}=${metricsReaderLabel.value}`,
    ),
  ]
}

function replicas({ replicaCount, webhook, podDisruptionBudget: budget }: Values): string[] {
  const waits = webhook.enabled && webhook.failurePolicy === 'Fail'
  return [
    ...when(
      replicaCount === 0,
      `replicaCount: with 0 replicas nothing is synced${waits ? ', and pods that request an agent are refused' : ''}`,
    ),
    ...when(
      budget.enabled && budget.minAvailable > 1 && replicaCount === 1,
      'podDisruptionBudget.minAvailable: no effect with one replica; no budget is created',
    ),
    ...when(
      waits && replicaCount === 1,
      'webhook.failurePolicy: with one replica, pods that request an agent are refused while the controller restarts',
    ),
  ]
}

function pod({ podLabels, topologySpreadConstraints, serviceAccount, controller }: Values): string[] {
  return [
    ...selectorKeys.flatMap((key) =>
      when(key in podLabels, `podLabels: ${key} is ignored, because the Deployment uses it to select its pods`),
    ),
    ...topologySpreadConstraints.flatMap((constraint, index) =>
      when(!('labelSelector' in constraint), `topologySpreadConstraints.${index}: no effect without a labelSelector`),
    ),
    ...when(
      !serviceAccount.create && Object.keys(serviceAccount.annotations).length > 0,
      'serviceAccount.annotations: no effect while serviceAccount.create is false',
    ),
    ...when(
      controller.logDevMode === 'true' && controller.logLevel !== 'info',
      'controller.logLevel: no effect while controller.logDevMode is "true", which logs every level',
    ),
  ]
}

function hostNetwork({ hostNetwork, dnsPolicy, networkPolicy }: Values): string[] {
  if (!hostNetwork) return []
  return [
    ...when(networkPolicy.enabled, 'networkPolicy.enabled: no effect with hostNetwork'),
    ...when(dnsPolicy === 'ClusterFirst', 'dnsPolicy: with hostNetwork, ClusterFirst does not resolve Services; leave it empty'),
  ]
}

function labels({ commonLabels }: Values): string[] {
  return ownLabelKeys.flatMap((key) => when(key in commonLabels, `commonLabels: ${key} is ignored, because the operator sets it`))
}

/** Two or three watches of about 170 KiB for each namespace: more than 16 MiB is a large part of the default memory limit. */
const maxUsualNamespaces = 32

function watches({ watchNamespaces }: Values): string[] {
  const count = watchNamespaces.length
  return when(
    count > maxUsualNamespaces,
    `watchNamespaces: ${count} namespaces need two or three watches each; leave the list empty to watch all namespaces, or raise resources.limits.memory by 512Ki per namespace`,
  )
}
