/**
 * Which values do not go together, although each of them is valid by itself. Pure.
 */
import { ports } from '../../runtime/gatewaysync/names.ts'
import { controllerSettingsVariable } from '../../runtime/settings.ts'
import { isNamespaceName, isServiceLabel } from './fields.ts'
import {
  amount,
  and,
  asText,
  earlier,
  equals,
  greater,
  hasKey,
  includes,
  isSet,
  less,
  lookup,
  matches,
  milliseconds,
  not,
  or,
  plucked,
  quoted,
  sameNumber,
  text,
} from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { each, eachMember, field, type Messages, say } from '../helm/nodes.ts'
import type { LiveRelease } from '../names.ts'
import { openPorts } from './open-ports.ts'
import { impossiblePod } from './pod-combinations.ts'
import type { Values } from '../values.ts'

/** Mirrors smaller than this hold no plant: the controller would refuse every repository. */
const smallestStorage = '64Mi'

/**
 * Combinations that cannot work, each beginning with the key that is to be changed. With Helm's values the list is what the chart refuses
 * to render.
 */
export function impossible(values: Live<Values>): Messages {
  return [
    ...impossibleIngress('webhookReceiver', values, 'an Ingress without a receiver leads nowhere'),
    ...impossibleIngress('statusPage', values, 'an Ingress without a status page leads nowhere'),
    ...impossibleProxy(values),
    ...impossibleOidc(values),
    ...impossibleReplicas(values),
    ...sameNames(values),
    ...impossibleEnvironment(values),
    ...impossibleTimings(values),
    ...tooLarge(values),
    ...samePorts(values),
    ...impossiblePod(values),
  ]
}

/** Why a release's name or namespace cannot be a part of names and labels. */
export function impossibleRelease({ name, namespace }: LiveRelease): Messages {
  return [
    ...say(not(isServiceLabel(name)), [
      text`release.name: ${quoted(name)} must be lower-case letters, digits and "-", at most 63 characters, beginning with a letter`,
    ]),
    ...say(not(isNamespaceName(namespace)), [text`release.namespace: ${quoted(namespace)} must be the name of a namespace`]),
  ]
}

type WithIngress = 'webhookReceiver' | 'statusPage'

function impossibleIngress(name: WithIngress, { [name]: { enabled, ingress } }: Live<Values>, nowhere: string): Messages {
  return [
    ...say(ingress.enabled, [
      ...say(not(isSet(ingress.hosts)), [`${name}.ingress.hosts: an Ingress needs at least one host`]),
      ...say(not(enabled), [`${name}.enabled: ${nowhere}`]),
    ]),
    ...addressesForHosts(name, ingress),
    ...impossiblePaths(name, ingress),
  ]
}

type Ingress = Live<Values>[WithIngress]['ingress']

function addressesForHosts(name: WithIngress, { hosts, tls }: Ingress): Messages {
  const address = (where: Value<string>, host: Value<string>): Messages =>
    say(matches(/^[0-9]+(?:\.[0-9]+){3}$/, host), [text`${where}: must be a host name, not an IP address`])
  return [
    ...each('host', hosts, (host, index) => address(text`${name}.ingress.hosts.${asText(index)}.host`, field(host, 'host'))).flat(),
    ...each('entry', tls, (entry, index) =>
      each('tlsHost', field(entry, 'hosts'), (host, hostIndex) =>
        address(text`${name}.ingress.tls.${asText(index)}.hosts.${asText(hostIndex)}`, host),
      ).flat(),
    ).flat(),
  ]
}

/** What the API server refuses in a path, unless it leaves the path to the class of the Ingress. */
function impossiblePaths(name: WithIngress, { hosts }: Ingress): Messages {
  const unclear = /\/\/|\/\.\.?(?:\/|$)|%2[fF]/
  return each('host', hosts, (host, index) =>
    each('path', field(host, 'paths'), (path, pathIndex) =>
      say(and(not(equals<string>(field(path, 'pathType'), 'ImplementationSpecific')), matches(unclear, field(path, 'path'))), [
        text`${name}.ingress.hosts.${asText(index)}.paths.${asText(pathIndex)}.path: must be without empty parts, ".", ".." and %2F, unless pathType is ImplementationSpecific`,
      ]),
    ).flat(),
  ).flat()
}

function impossibleProxy({ statusPage: { enabled, proxy } }: Live<Values>): Messages {
  return say(proxy.enabled, [
    ...say(not(enabled), ['statusPage.enabled: a login of a status page that is off lets nobody in']),
    ...say(not(isSet(proxy.secretRef.name)), [
      'statusPage.proxy.secretRef.name: without a secret anybody could say that they are somebody',
    ]),
  ])
}

function impossibleOidc({ statusPage: { enabled, proxy, oidc } }: Live<Values>): Messages {
  const { issuer, clientId, secretRef, externalURL } = oidc
  return say(oidc.enabled, [
    ...say(not(enabled), ['statusPage.enabled: a login of a status page that is off lets nobody in']),
    ...say(proxy.enabled, ['statusPage.oidc.enabled: statusPage.proxy.enabled is true too; only one of them can say who somebody is']),
    ...say(not(isSet(issuer)), ['statusPage.oidc.issuer: without a provider nobody can log in']),
    ...say(not(isSet(clientId)), ['statusPage.oidc.clientId: the provider has to know as what the page asks']),
    ...say(not(isSet(secretRef.name)), ['statusPage.oidc.secretRef.name: without a secret nothing proves the page to the provider']),
    ...say(not(isSet(externalURL)), ['statusPage.oidc.externalURL: without it the provider does not know where people come back to']),
  ])
}

function impossibleReplicas({ replicaCount, leaderElection, podDisruptionBudget: budget, source }: Live<Values>): Messages {
  const { storage, persistence } = source
  const count = asText(replicaCount)
  return say(greater(replicaCount, 1), [
    ...say(not(leaderElection.enabled), [
      text`leaderElection.enabled: ${count} replicas without leader election would all write; set replicaCount: 1`,
    ]),
    ...say(and(isSet(storage.existingClaim), not(persistence.enabled)), [
      text`source.storage.existingClaim: ${count} replicas cannot share one claim; set replicaCount: 1, or in its place source.persistence.enabled: true`,
    ]),
    ...say(and(budget.enabled, not(greater(replicaCount, budget.minAvailable))), [
      text`podDisruptionBudget.minAvailable: ${asText(budget.minAvailable)} of ${count} replicas would have to stay, so that no node could be drained; at most ${asText(less(replicaCount, 1))}`,
    ]),
  ])
}

/** Lists whose elements the API server or the controller tells apart by name, so that each name may occur once. */
function sameNames({ watchNamespaces, imagePullSecrets, extraEnv, rbac }: Live<Values>): Messages {
  const twice = (names: Value<readonly string[]>, where: (index: Value<string>) => Value<string>): Messages =>
    each('name', names, (name, index) =>
      say(includes(earlier(names, index), name), [text`${where(asText(index))}: ${name} is there twice`]),
    ).flat()
  return [
    ...twice(watchNamespaces, (index) => text`watchNamespaces.${index}`),
    ...twice(rbac.secrets.namespaces, (index) => text`rbac.secrets.namespaces.${index}`),
    ...twice(plucked(imagePullSecrets, 'name'), (index) => text`imagePullSecrets.${index}.name`),
    ...twice(plucked(extraEnv, 'name'), (index) => text`extraEnv.${index}.name`),
  ]
}

/** Variables that the manifests set in the container themselves. */
const ownVariables: readonly string[] = ['POD_NAME', 'POD_IP', 'NODE_OPTIONS', controllerSettingsVariable]

function impossibleEnvironment({ extraEnv }: Live<Values>): Messages {
  return each('variable', extraEnv, (variable, index) => {
    const where = text`extraEnv.${asText(index)}`
    const name = field(variable, 'name')
    return [
      ...say(or(...ownVariables.map((own) => equals(name, own))), [text`${where}.name: ${name} is set by the manifests themselves`]),
      ...say(and(hasKey(variable, 'value'), hasKey(variable, 'valueFrom')), [
        text`${where}.valueFrom: ${name} has a value too; leave one of them out`,
      ]),
    ]
  }).flat()
}

function impossibleTimings({ serviceMonitor, podMonitor, metrics }: Live<Values>): Messages {
  return [
    ...Object.entries({ serviceMonitor, podMonitor }).flatMap(([name, { interval, scrapeTimeout }]) =>
      say(and(greater(milliseconds(interval), 0), greater(milliseconds(scrapeTimeout), milliseconds(interval))), [
        text`${name}.scrapeTimeout: ${scrapeTimeout} is above ${name}.interval ${interval}`,
      ]),
    ),
    ...say(and(serviceMonitor.enabled, not(metrics.enabled)), ['metrics.enabled: serviceMonitor.enabled needs the metrics Service']),
  ]
}

function tooLarge({ resources, agent, source: { storage, persistence } }: Live<Values>): Messages {
  const above = (section: string, resource: Value<string>, request: Value<string>, limit: Value<string>): Messages =>
    say(greater(amount(request), amount(limit)), [
      text`${section}.requests.${resource}: ${request} is above ${section}.limits.${resource} ${limit}`,
    ])
  const { guaranteed, resources: ofAgents } = agent
  const { requests, limits } = ofAgents
  return [
    ...(['cpu', 'memory'] as const).flatMap((name) => above('resources', name, resources.requests[name], resources.limits[name])),
    ...eachMember('request', requests, (name, request) =>
      say(hasKey(limits, name), above('agent.resources', name, request, lookup(limits, name))),
    ).flat(),
    ...(['cpu', 'memory'] as const).flatMap((name) =>
      say(and(guaranteed.enabled, not(greater(amount(guaranteed[name]), 0))), [
        text`agent.guaranteed.${name}: ${guaranteed[name]} is nothing; to leave such pods to Kubernetes set agent.guaranteed.enabled: false`,
      ]),
    ),
    ...say(greater(amount(smallestStorage), amount(storage.sizeLimit)), [
      text`source.storage.sizeLimit: ${storage.sizeLimit} is below ${smallestStorage}, which mirrors need at least`,
    ]),
    ...say(and(persistence.enabled, greater(amount(storage.sizeLimit), amount(persistence.size))), [
      text`source.persistence.size: ${persistence.size} is below source.storage.sizeLimit ${storage.sizeLimit}, to which mirrors may grow`,
    ]),
  ]
}

function samePorts(values: Live<Values>): Messages {
  const used = openPorts(values)
  return used.flatMap(({ key, isOpen, port }, index) => {
    const also = (other: string): Messages => [text`${key}: port ${asText(port)} is also that of ${other}`]
    const ofProbes = sameNumber(port, ports.probes)
    const twins = used.slice(0, index).map((other) => and(other.isOpen, sameNumber(other.port, port)))
    return [
      ...say(and(isOpen, ofProbes), also('the probes')),
      ...twins.flatMap((isTwin, other) =>
        say(and(isOpen, not(ofProbes), isTwin, not(or(...twins.slice(0, other)))), also(used[other]?.key ?? '')),
      ),
    ]
  })
}
