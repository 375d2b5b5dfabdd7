/**
 * What single values cannot say: which do not go together. Pure.
 */
import { ports } from '../runtime/gatewaysync/names.ts'
import { amountOf } from '../runtime/gatewaysync/quantity.ts'
import { controllerSettingsVariable } from '../runtime/settings.ts'
import { millisecondsOf } from './duration.ts'
import type { Values } from './values.ts'

/** Mirrors smaller than this hold no plant: the controller would refuse every repository. */
const smallestStorage = '64Mi'

/** Combinations that cannot work, each beginning with the key that is to be changed. */
export function impossible(values: Values): string[] {
  return [
    ...impossibleReceiver(values),
    ...impossibleReplicas(values),
    ...impossibleNamespaces(values),
    ...impossibleEnvironment(values),
    ...impossibleTimings(values),
    ...tooLarge(values),
    ...samePorts(values),
  ]
}

function impossibleReceiver({ webhookReceiver: { enabled, ingress } }: Values): string[] {
  if (!ingress.enabled) return []
  return [
    ...(ingress.hosts.length === 0 ? ['webhookReceiver.ingress.hosts: an Ingress needs at least one host'] : []),
    ...(enabled ? [] : ['webhookReceiver.enabled: an Ingress without a receiver leads nowhere']),
  ]
}

function impossibleReplicas({ replicaCount, leaderElection, podDisruptionBudget: budget, source: { storage } }: Values): string[] {
  if (replicaCount === 1) return []
  return [
    ...(leaderElection.enabled
      ? []
      : [`leaderElection.enabled: ${replicaCount} replicas without leader election would all write; set replicaCount: 1`]),
    ...(storage.existingClaim === ''
      ? []
      : [
          `source.storage.existingClaim: ${replicaCount} replicas cannot share one claim; set replicaCount: 1 or leave existingClaim empty`,
        ]),
    ...(!budget.enabled || budget.minAvailable < replicaCount
      ? []
      : [
          `podDisruptionBudget.minAvailable: ${budget.minAvailable} of ${replicaCount} replicas would have to stay, so that no node could be drained; at most ${replicaCount - 1}`,
        ]),
  ]
}

function impossibleNamespaces({ watchNamespaces }: Values): string[] {
  return watchNamespaces.flatMap((name, index) =>
    watchNamespaces.indexOf(name) === index ? [] : [`watchNamespaces.${index}: ${name} is there twice`],
  )
}

/** What the container has in its environment anyway. */
const ownVariables: readonly string[] = ['POD_NAME', controllerSettingsVariable]

function impossibleEnvironment({ extraEnv }: Values): string[] {
  return extraEnv.flatMap(({ name, value, valueFrom }, index) => {
    const where = `extraEnv.${index}`
    return [
      ...(ownVariables.includes(name) ? [`${where}.name: ${name} is set by the manifests themselves`] : []),
      ...(extraEnv.slice(0, index).some((other) => other.name === name) ? [`${where}.name: ${name} is there twice`] : []),
      ...(value !== undefined && valueFrom !== undefined ? [`${where}.valueFrom: ${name} has a value too; leave one of them out`] : []),
    ]
  })
}

function impossibleTimings({ serviceMonitor, podMonitor, metrics }: Values): string[] {
  const errors = Object.entries({ serviceMonitor, podMonitor }).flatMap(([name, { interval, scrapeTimeout }]) =>
    millisecondsOf(interval) > 0 && millisecondsOf(scrapeTimeout) > millisecondsOf(interval)
      ? [`${name}.scrapeTimeout: ${scrapeTimeout} is above ${name}.interval ${interval}`]
      : [],
  )
  if (serviceMonitor.enabled && !metrics.enabled) errors.push('metrics.enabled: serviceMonitor.enabled needs the metrics Service')
  return errors
}

function tooLarge({ resources, agent, source: { storage } }: Values): string[] {
  const errors = Object.entries({ resources, 'agent.resources': agent.resources }).flatMap(([name, { requests, limits }]) => {
    const limitOf = new Map<string, string>(Object.entries(limits))
    return Object.entries(requests).flatMap(([resource, request]) => {
      const limit = limitOf.get(resource)
      if (limit === undefined || amountOf(request) <= amountOf(limit)) return []
      return [`${name}.requests.${resource}: ${request} is above ${name}.limits.${resource} ${limit}`]
    })
  })
  if (amountOf(storage.sizeLimit) < amountOf(smallestStorage))
    errors.push(`source.storage.sizeLimit: ${storage.sizeLimit} is below ${smallestStorage}, which mirrors need at least`)
  return errors
}

function samePorts({ webhook, webhookReceiver: receiver, metrics, delivery }: Values): string[] {
  const used = [
    ['webhook.port', webhook.enabled ? webhook.port : undefined],
    ['webhookReceiver.port', receiver.enabled ? receiver.port : undefined],
    ['metrics.service.port', metrics.enabled ? metrics.service.port : undefined],
    ['delivery.port', delivery.port],
  ] as const
  return used.flatMap(([name, value], index) => {
    if (value === undefined) return []
    if (value === ports.probes) return [`${name}: port ${value} is also that of the probes`]
    const twin = used.slice(0, index).find(([, other]) => other === value)
    return twin === undefined ? [] : [`${name}: port ${value} is also that of ${twin[0]}`]
  })
}
