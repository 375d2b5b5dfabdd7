/**
 * The settings of the controller's process, which it reads from its environment. Pure.
 */
import { ports } from '../../runtime/api/names.ts'
import type { ControllerSettingsInput } from '../../runtime/settings/controller.ts'
import type { SharedProps } from './shared-props.ts'
import type { Names } from '../names.ts'
import { mountPaths } from '../values/mounts.ts'
import { receiverKeys } from '../values/receiver-keys.ts'
import type { Values } from '../values.ts'
import { certificateNames, certificateSource } from './certificates.ts'

export function controllerSettings({ names, values, version }: SharedProps): ControllerSettingsInput {
  const { fullname, namespace, deliveryService } = names
  const { image, agentImage, agent, webhook, webhookReceiver, metrics, delivery, source, statusPage } = values
  const keyFiles = receiverKeys(values).map((name) => [`${name}File`, `${mountPaths.receiver}/${name}/value`])
  return {
    namespace,
    fullname,
    development: values.controller.logDevMode === 'true',
    logLevel: values.controller.logLevel,
    leaderElection: values.leaderElection.enabled,
    watchNamespaces: values.watchNamespaces,
    watchLabelSelector: values.controller.watchLabelSelector,
    ports: {
      receiver: webhookReceiver.port,
      admission: webhook.port,
      metrics: metrics.service.port,
      probes: ports.probes,
      delivery: delivery.port,
    },
    source: {
      folder: `${mountPaths.source}/mirrors`,
      sizeLimit: source.storage.sizeLimit,
      allowedHosts: source.allowedHosts,
      allowPrivateAddresses: source.allowPrivateAddresses,
      allowedAddresses: source.allowedAddresses,
      ...(source.proxy !== '' && { proxy: source.proxy }),
      noProxy: source.noProxy,
    },
    delivery: { url: `https://${deliveryService}.${namespace}.svc:${delivery.port}` },
    certificates: certificates(names, values),
    dnsNames: certificateNames(names, values),
    injection: { enabled: webhook.enabled, webhookConfiguration: fullname },
    agent: {
      image: imageOf(agentImage, version),
      imagePullPolicy: image.pullPolicy,
      imagePullSecrets: values.imagePullSecrets,
      resources: agentResources(values),
      ...(agent.guaranteed.enabled && { guaranteed: { cpu: agent.guaranteed.cpu, memory: agent.guaranteed.memory } }),
      securityContext: agent.securityContext,
      logLevel: agent.logLevel,
      allowImageOverride: agent.allowImageOverride,
      clusterRole: names.agentRole,
      autoBind: values.rbac.autoBindAgent.enabled,
    },
    receiver: {
      enabled: webhookReceiver.enabled,
      ...(Object.fromEntries(keyFiles) as { hmacFile?: string; tokenFile?: string }),
      trustedProxies: webhookReceiver.trustedProxies,
    },
    notifications: values.notifications.map(({ secretRef: _secret, ...receiver }) => ({
      ...receiver,
      folder: `${mountPaths.notifications}/${receiver.name}`,
    })),
    metrics: { enabled: metrics.enabled },
    ...(statusPage.enabled && { statusPage: statusPageSettings(statusPage) }),
  }
}

/** An image with its tag, by default the version of this package. */
export function imageOf({ repository, tag }: { repository: string; tag: string }, version: string): string {
  return `${repository}:${tag || version}`
}

function certificates({ certificateSecret }: Names, values: Values): ControllerSettingsInput['certificates'] {
  const source = certificateSource(values)
  if (source === 'controller') return { kind: 'selfManaged', secretName: certificateSecret }
  return { kind: 'mounted', folder: mountPaths.certificate, writesCaBundle: source === 'existing-secret' }
}

/** No CPU limit: with a limit of 200m, a first sync takes seven times as long. */
const defaultAgentResources = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } }

/** The resources from the values, or the default resources if the values contain none. */
function agentResources({ agent: { resources } }: Values): Record<string, Record<string, string | number>> {
  const given = Object.entries(resources).filter(([, amounts]) => Object.keys(amounts).length > 0)
  return given.length > 0 ? Object.fromEntries(given) : defaultAgentResources
}

function statusPageSettings({
  port,
  trustedProxies,
  proxy,
  oidc,
  clusters,
}: Values['statusPage']): NonNullable<ControllerSettingsInput['statusPage']> {
  const { enabled: _proxy, secretRef: _proxySecret, ...headers } = proxy
  const { enabled: _oidc, secretRef: _oidcSecret, ...provider } = oidc
  return {
    port,
    trustedProxies,
    ...(proxy.enabled && { proxy: { secretFile: `${mountPaths.statusPage}/value`, ...headers } }),
    ...(oidc.enabled && { oidc: { secretFolder: mountPaths.login, ...provider } }),
    ...(clusters.length > 0 && {
      clusters: clusters.map(({ kubeconfig: _kubeconfig, ...cluster }) => ({
        ...cluster,
        kubeconfigFile: `${mountPaths.clusters}/${cluster.name}`,
      })),
    }),
  }
}

/** JSON with sorted keys and one top-level member per line, so that a changed setting is a one-line diff. */
export function settingsJson(settings: ControllerSettingsInput): string {
  const lines = Object.entries(sorted(settings) as object).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `{\n${lines.join(',\n')}\n}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
