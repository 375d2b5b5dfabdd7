/**
 * Values that are valid on their own but cannot be combined. Pure.
 */
import { podAnnotations, ports } from '../../runtime/api/names.ts'
import { amountOf } from '../../runtime/api/quantity.ts'
import { controllerSettingsVariable } from '../../runtime/settings/controller.ts'
import type { Release } from '../names.ts'
import type { Values } from '../values.ts'
import { millisecondsOf } from './duration.ts'
import { isNamespaceName, isServiceLabel } from './fields.ts'
import { operatorMountPaths, operatorVolumes } from './mounts.ts'
import { openPorts } from './open-ports.ts'

/** No repository fits on a smaller volume, so the controller would reject every one. */
const minStorage = '64Mi'

/** One message per combination that cannot work; each begins with the key to change. */
export function impossible(values: Values): string[] {
  return [
    ...ingress('webhookReceiver', values),
    ...ingress('statusPage', values),
    ...statusPageProxy(values),
    ...statusPageOidc(values),
    ...statusPageClusters(values),
    ...replicas(values),
    ...duplicateNames(values),
    ...environment(values),
    ...monitoring(values),
    ...quantities(values),
    ...duplicatePorts(values),
    ...pod(values),
    ...extraVolumes(values),
  ]
}

/** Why a release's name or namespace cannot be part of object names and labels. */
export function impossibleRelease({ name, namespace }: Release): string[] {
  return [
    ...when(
      !isServiceLabel(name),
      `release.name: ${JSON.stringify(name)} must be lower-case letters, digits and "-", at most 63 characters, beginning with a letter and ending with a letter or digit`,
    ),
    ...when(!isNamespaceName(namespace), `release.namespace: ${JSON.stringify(namespace)} must be the name of a namespace`),
  ]
}

export function when(condition: boolean, ...messages: string[]): string[] {
  return condition ? messages : []
}

function ingress(section: 'webhookReceiver' | 'statusPage', { [section]: { enabled, ingress } }: Values): string[] {
  const { hosts, tls } = ingress
  const required = when(ingress.enabled && hosts.length === 0, `${section}.ingress.hosts: required when ${section}.ingress.enabled is true`)
  const needsServer = when(ingress.enabled && !enabled, `${section}.enabled: must be true when ${section}.ingress.enabled is true`)
  const named = hosts.map(({ host }) => host)
  return [
    ...required,
    ...needsServer,
    ...named.flatMap((host, index) => [
      ...addressForHost(`${section}.ingress.hosts.${index}.host`, host),
      ...when(named.indexOf(host) < index, `${section}.ingress.hosts.${index}.host: ${host === '' ? '""' : host} is listed twice`),
    ]),
    ...tls.flatMap(({ hosts }, index) =>
      hosts.flatMap((host, hostIndex) => addressForHost(`${section}.ingress.tls.${index}.hosts.${hostIndex}`, host)),
    ),
    ...hosts.flatMap(({ paths }, index) => ingressPaths(`${section}.ingress.hosts.${index}.paths`, paths)),
  ]
}

function addressForHost(where: string, host: string): string[] {
  return when(/(?:^|[.])[0-9]+$/.test(host), `${where}: must be a host name, not an IP address`)
}

type IngressPaths = Values['webhookReceiver']['ingress']['hosts'][number]['paths']

function ingressPaths(where: string, paths: IngressPaths): string[] {
  const named = paths.map(({ path }) => path)
  return paths.flatMap(({ path, pathType }, index) => [
    // The API server has the same rule. It does not apply to paths that the Ingress class interprets.
    ...when(
      pathType !== 'ImplementationSpecific' && /\/\/|\/\.\.?(?:\/|$)|%2[fF]/.test(path),
      `${where}.${index}.path: must not contain empty segments, ".", ".." or %2F, unless pathType is ImplementationSpecific`,
    ),
    ...when(named.indexOf(path) < index, `${where}.${index}.path: ${path} is listed twice`),
  ])
}

function statusPageProxy({ statusPage: { enabled, proxy } }: Values): string[] {
  if (!proxy.enabled) return []
  return [
    ...when(!enabled, 'statusPage.enabled: must be true when statusPage.proxy.enabled is true'),
    ...when(
      proxy.secretRef.name === '',
      'statusPage.proxy.secretRef.name: required when statusPage.proxy.enabled is true; without the secret anyone could forge the user headers',
    ),
  ]
}

function statusPageOidc({ statusPage: { enabled, proxy, oidc } }: Values): string[] {
  if (!oidc.enabled) return []
  const required = { issuer: oidc.issuer, clientID: oidc.clientID, 'secretRef.name': oidc.secretRef.name, externalURL: oidc.externalURL }
  return [
    ...when(!enabled, 'statusPage.enabled: must be true when statusPage.oidc.enabled is true'),
    ...when(proxy.enabled, 'statusPage.oidc.enabled: cannot be combined with statusPage.proxy.enabled'),
    ...Object.entries(required).flatMap(([key, value]) =>
      when(value === '', `statusPage.oidc.${key}: required when statusPage.oidc.enabled is true`),
    ),
  ]
}

function statusPageClusters({ statusPage: { enabled, proxy, oidc, clusters } }: Values): string[] {
  if (clusters.length === 0) return []
  return [
    ...when(!enabled, 'statusPage.enabled: must be true when statusPage.clusters is set'),
    ...when(
      !proxy.enabled && !oidc.enabled,
      'statusPage.clusters: needs a login (statusPage.oidc or statusPage.proxy); without one, anyone who can reach the page would see every cluster',
    ),
  ]
}

function replicas({ replicaCount, leaderElection, podDisruptionBudget: budget, source: { storage, persistence } }: Values): string[] {
  if (replicaCount < 2) return []
  return [
    ...when(
      !leaderElection.enabled,
      `leaderElection.enabled: must be true with ${replicaCount} replicas; otherwise each of them would act as leader. Alternatively, set replicaCount: 1`,
    ),
    ...when(
      storage.existingClaim !== '' && !persistence.enabled,
      `source.storage.existingClaim: ${replicaCount} replicas cannot share one claim; set replicaCount: 1, or source.persistence.enabled: true instead`,
    ),
    ...when(
      budget.enabled && budget.minAvailable >= replicaCount,
      `podDisruptionBudget.minAvailable: ${budget.minAvailable} of ${replicaCount} replicas would block every node drain; use at most ${replicaCount - 1}`,
    ),
  ]
}

/** Lists in which names must be unique. */
function duplicateNames({ watchNamespaces, imagePullSecrets, extraEnv, notifications, statusPage, rbac: { secrets } }: Values): string[] {
  const namesOf = (list: readonly { name: string }[]) => list.map(({ name }) => name)
  return [
    ...twice(watchNamespaces, (index) => `watchNamespaces.${index}`),
    ...twice(secrets.namespaces, (index) => `rbac.secrets.namespaces.${index}`),
    ...twice(secrets.names, (index) => `rbac.secrets.names.${index}`),
    ...twice(namesOf(imagePullSecrets), (index) => `imagePullSecrets.${index}.name`),
    ...twice(namesOf(extraEnv), (index) => `extraEnv.${index}.name`),
    ...twice(namesOf(notifications), (index) => `notifications.${index}.name`),
    ...twice(namesOf(statusPage.clusters), (index) => `statusPage.clusters.${index}.name`),
  ]
}

function twice(names: readonly string[], where: (index: number) => string): string[] {
  return names.flatMap((name, index) => when(names.indexOf(name) < index, `${where(index)}: ${name} is listed twice`))
}

/** Variables that the manifests set in the container. */
const operatorVariables: readonly string[] = ['POD_NAME', 'POD_IP', 'NODE_OPTIONS', controllerSettingsVariable]

function environment({ extraEnv }: Values): string[] {
  return extraEnv.flatMap(({ name, value, valueFrom }, index) => [
    ...when(operatorVariables.includes(name), `extraEnv.${index}.name: ${name} is set by the operator itself`),
    ...when(
      value !== undefined && valueFrom !== undefined,
      `extraEnv.${index}.valueFrom: ${name} has both value and valueFrom; remove one of them`,
    ),
  ])
}

function monitoring({ serviceMonitor, podMonitor, metrics }: Values): string[] {
  return [
    ...Object.entries({ serviceMonitor, podMonitor }).flatMap(([name, { interval, scrapeTimeout }]) =>
      when(
        millisecondsOf(interval) > 0 && millisecondsOf(scrapeTimeout) > millisecondsOf(interval),
        `${name}.scrapeTimeout: ${scrapeTimeout} is longer than ${name}.interval (${interval})`,
      ),
    ),
    ...when(serviceMonitor.enabled && !metrics.enabled, 'metrics.enabled: must be true when serviceMonitor.enabled is true'),
  ]
}

function quantities({ resources, agent, source: { storage, persistence } }: Values): string[] {
  return [
    ...requestsAboveLimits('resources', resources),
    ...requestsAboveLimits('agent.resources', agent.resources),
    ...(['cpu', 'memory'] as const).flatMap((name) =>
      when(
        agent.guaranteed.enabled && bytesOf(agent.guaranteed[name]) === 0,
        `agent.guaranteed.${name}: must be greater than 0; set agent.guaranteed.enabled: false to turn it off`,
      ),
    ),
    ...when(bytesOf(storage.sizeLimit) < bytesOf(minStorage), `source.storage.sizeLimit: must be at least ${minStorage}`),
    ...when(
      persistence.enabled && bytesOf(storage.sizeLimit) > bytesOf(persistence.size),
      `source.persistence.size: ${persistence.size} is below source.storage.sizeLimit (${storage.sizeLimit})`,
    ),
  ]
}

function requestsAboveLimits(section: string, { requests, limits }: Values['resources']): string[] {
  return Object.entries(requests).flatMap(([name, request]) => {
    const limit = limits[name]
    return when(
      limit !== undefined && bytesOf(request) > bytesOf(limit),
      `${section}.requests.${name}: ${request} is above ${section}.limits.${name} (${limit})`,
    )
  })
}

function bytesOf(quantity: string | number): number {
  return amountOf(String(quantity))
}

function duplicatePorts(values: Values): string[] {
  const open = openPorts(values)
  return open.flatMap(({ key, port }, index) => {
    const other = port === ports.probes ? 'the probes' : open.slice(0, index).find((earlier) => earlier.port === port)?.key
    return when(other !== undefined, `${key}: port ${port} is already used by ${other}`)
  })
}

function pod(values: Values): string[] {
  const { serviceAccount, source, hostNetwork } = values
  return [
    ...when(!serviceAccount.create && serviceAccount.name === '', 'serviceAccount.name: required when serviceAccount.create is false'),
    // The API server would call the controller to admit the controller's own pod, which could then never start.
    ...(['podAnnotations', 'commonAnnotations'] as const).flatMap((key) =>
      when(
        podAnnotations.inject in values[key],
        `${key}: ${podAnnotations.inject} is for gateway pods; the controller does not run an agent`,
      ),
    ),
    // The sysctl that opens these ports is not allowed in the host's network.
    ...openPorts(values).flatMap(({ key, port }) =>
      when(hostNetwork && port < 1024, `${key}: port ${port} is below 1024; with hostNetwork, such ports require root`),
    ),
    ...when(
      source.persistence.enabled && source.storage.existingClaim !== '',
      'source.storage.existingClaim: cannot be combined with source.persistence.enabled, which creates its own claims',
    ),
  ]
}

function extraVolumes({ extraVolumes, extraVolumeMounts }: Values): string[] {
  const volumes = extraVolumes.map(({ name }) => name)
  const paths = extraVolumeMounts.map(({ mountPath }) => mountPath)
  return [
    ...twice(volumes, (index) => `extraVolumes.${index}.name`),
    ...volumes.flatMap((name, index) =>
      when(operatorVolumes.includes(name), `extraVolumes.${index}.name: ${name} is used by the operator itself`),
    ),
    ...twice(paths, (index) => `extraVolumeMounts.${index}.mountPath`),
    ...extraVolumeMounts.flatMap(({ name, mountPath }, index) => [
      ...when(!volumes.includes(name), `extraVolumeMounts.${index}.name: ${name} is not in extraVolumes`),
      ...when(operatorMountPaths.includes(mountPath), `extraVolumeMounts.${index}.mountPath: ${mountPath} is used by the operator itself`),
    ]),
  ]
}
