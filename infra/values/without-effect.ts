/**
 * Which values are set and have no effect, or less effect than their reader may expect. Pure.
 */
import * as v from 'valibot'
import {
  and,
  equals,
  greater,
  hasKey,
  includes,
  isSet,
  not,
  or,
  plucked,
  same,
  sizeOf,
  text,
  asText,
  sameNumber,
} from '../helm/combinators.ts'
import { isExpression, type Live, type Value } from '../helm/expression.ts'
import { each, field, type Messages, say } from '../helm/nodes.ts'
import { ownLabelKeys, selectorKeys } from '../names.ts'
import { type Values, valuesSchema } from '../values.ts'

/** The warnings, each beginning with the key that it is about. Rendered by Helm, they stand in the notes of a release. */
export function withoutEffect(values: Live<Values>): Messages {
  return [
    ...changedBelow(values, defaults, [], []),
    ...idleAgents(values),
    ...idleReceiver(values),
    ...openPage(values),
    ...idleMonitoring(values),
    ...idlePod(values),
    ...idleInHostNetwork(values),
    ...idleElsewhere(values),
    ...manyWatches(values),
  ]
}

type Section = Record<string, unknown>
type Switch = { key: string; isOn: Value<boolean> }

const defaults: Values = v.parse(valuesSchema, {})

/** Keys that have an effect although their section is switched off: delivery serves with the certificate of this Secret too. */
const independent: readonly string[] = ['webhook.existingSecret']

/** Warns of changed values in sections that are switched off. A value in several such sections is told once, for the outermost. */
function changedBelow(section: Section, usual: Section, path: readonly string[], outer: readonly Switch[]): Messages {
  const own = 'enabled' in usual ? [{ key: [...path, 'enabled'].join('.'), isOn: section['enabled'] as Value<boolean> }] : []
  return Object.entries(usual).flatMap(([name, before]) => {
    const key = [...path, name].join('.')
    const value = section[name]
    if (independent.includes(key)) return []
    if (isSection(before)) return changedBelow(value as Section, before, [...path, name], [...outer, ...own])
    const switches = name === 'enabled' ? outer : [...outer, ...own]
    return switches.flatMap(({ key: off, isOn }, index) =>
      say(and(...switches.slice(0, index).map((before) => before.isOn), not(isOn), not(same(value, before))), [
        `${key}: no effect while ${off} is false`,
      ]),
    )
  })
}

/** Whether an object has fixed keys, so that it is a section. One without keys, such as the default of labels, is a value. */
function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExpression(value) && Object.keys(value).length > 0
}

/** Without injection no pod gets an agent. */
function idleAgents({ webhook, ...values }: Live<Values>): Messages {
  const injection: Switch = { key: 'webhook.enabled', isOn: webhook.enabled }
  return (['agentImage', 'agent'] as const).flatMap((name) => changedBelow(values[name], defaults[name], [name], [injection]))
}

function idleReceiver({ webhookReceiver: receiver }: Live<Values>): Messages {
  const { hmac, token, ingress } = receiver
  const isOpen = not(or(...[hmac, token].flatMap(({ secret, secretRef }) => [isSet(secret), isSet(secretRef.name)])))
  return say(receiver.enabled, [
    ...(['hmac', 'token'] as const).flatMap((name) => idleKey(name, receiver[name])),
    ...say(isOpen, ['webhookReceiver: neither hmac nor token is configured; anyone who reaches the receiver may push']),
    ...hostsWithoutRule('webhookReceiver', ingress),
  ])
}

function idleKey(name: 'hmac' | 'token', { secret, secretRef }: Live<Values>['webhookReceiver']['hmac']): Messages {
  const where = `webhookReceiver.${name}`
  const isReferred = isSet(secretRef.name)
  const isUsualKey = equals(secretRef.key, defaults.webhookReceiver[name].secretRef.key)
  return [
    ...say(and(isSet(secret), not(isReferred)), [
      `${where}.secret: becomes a Secret in the manifests; do not commit them, or use secretRef`,
    ]),
    ...say(and(isSet(secret), isReferred), [`${where}.secret: ignored, because secretRef is set`]),
    ...say(and(not(isUsualKey), not(isReferred)), [`${where}.secretRef.key: no effect while ${where}.secretRef.name is empty`]),
  ]
}

/** Everything that the page shows is for whoever reaches it. */
function openPage({ statusPage: { enabled, ingress, proxy, oidc } }: Live<Values>): Messages {
  return say(enabled, [
    ...say(not(or(proxy.enabled, oidc.enabled)), [
      'statusPage: it has no login; anyone who reaches it sees every GatewaySync and gateway that this installation works with',
    ]),
    ...hostsWithoutRule('statusPage', ingress),
  ])
}

function hostsWithoutRule(
  name: 'webhookReceiver' | 'statusPage',
  { enabled, hosts, tls }: Live<Values>['webhookReceiver']['ingress'],
): Messages {
  const unknown = each('entry', tls, (entry, index) =>
    each('tlsHost', field(entry, 'hosts'), (host) =>
      say(not(includes(plucked(hosts, 'host'), host)), [
        text`${name}.ingress.tls.${asText(index)}.hosts: ${host} is none of ${name}.ingress.hosts`,
      ]),
    ).flat(),
  ).flat()
  return say(enabled, unknown)
}

function idleMonitoring({ prometheusRule, serviceMonitor }: Live<Values>): Messages {
  const { name, key } = serviceMonitor.tokenSecret
  return [
    ...say(and(prometheusRule.enabled, not(serviceMonitor.enabled)), [
      'prometheusRule.enabled: the alerts need figures that only serviceMonitor.enabled lets the monitoring system collect',
    ]),
    ...say(and(serviceMonitor.enabled, not(isSet(name)), not(equals(key, defaults.serviceMonitor.tokenSecret.key))), [
      'serviceMonitor.tokenSecret.key: no effect while serviceMonitor.tokenSecret.name is empty',
    ]),
  ]
}

function idlePod({ podLabels, webhook, replicaCount, podDisruptionBudget: budget, topologySpreadConstraints }: Live<Values>): Messages {
  const single = sameNumber(replicaCount, 1)
  return [
    ...selectorKeys.flatMap((key) =>
      say(hasKey(podLabels, key), [`podLabels: ${key} is ignored, because the Deployment selects its pods by it`]),
    ),
    ...each('constraint', topologySpreadConstraints, (constraint, index) =>
      say(not(hasKey(constraint, 'labelSelector')), [
        text`topologySpreadConstraints.${asText(index)}: no effect without a labelSelector, because it counts no pod`,
      ]),
    ).flat(),
    ...say(and(budget.enabled, greater(budget.minAvailable, 1), single), [
      'podDisruptionBudget.minAvailable: no effect with one replica, which gets no budget',
    ]),
    ...say(and(webhook.enabled, equals(webhook.failurePolicy, 'Fail'), single), [
      'webhook.failurePolicy: with one replica, gateway pods that ask for an agent wait while the controller restarts',
    ]),
  ]
}

function idleInHostNetwork({ hostNetwork, dnsPolicy, networkPolicy }: Live<Values>): Messages {
  return say(hostNetwork, [
    ...say(networkPolicy.enabled, [
      'networkPolicy.enabled: no effect with hostNetwork, because policies hold for pods that have a network of their own',
    ]),
    ...say(equals(dnsPolicy, 'ClusterFirst'), [
      'dnsPolicy: ClusterFirst has no effect with hostNetwork; leave it empty to resolve the names of Services',
    ]),
  ])
}

function idleElsewhere({ commonLabels, serviceAccount, controller }: Live<Values>): Messages {
  return [
    ...ownLabelKeys.flatMap((key) => say(hasKey(commonLabels, key), [`commonLabels: ${key} is ignored, because every object has its own`])),
    ...say(and(not(serviceAccount.create), isSet(serviceAccount.annotations)), [
      'serviceAccount.annotations: no effect while serviceAccount.create is false',
    ]),
    ...say(and(equals(controller.logDevMode, 'true'), not(equals(controller.logLevel, 'info'))), [
      'controller.logLevel: no effect while controller.logDevMode is "true", which shows every level',
    ]),
  ]
}

/** Two or three watches each, over GatewaySyncs, SyncReports and pods, of some 170 KiB: beyond 16 MiB that is no small part of the limit. */
const usualNamespaces = 32

function manyWatches({ watchNamespaces }: Live<Values>): Messages {
  const named = sizeOf(watchNamespaces)
  return say(and(isSet(watchNamespaces), greater(named, usualNamespaces)), [
    text`watchNamespaces: ${asText(named)} namespaces take two or three watches each, of 170 KiB in the controller; leave it empty to watch all with three, or let resources.limits.memory grow by 512Ki for each`,
  ])
}
