/**
 * What is set and does nothing, or less than one might think. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { selectorKeys } from './names.ts'
import { type Values, valuesSchema } from './values.ts'

/** Each begins with the key that it is about. */
export function withoutEffect(values: Values): string[] {
  return [...switchedOff(values), ...idleReceiver(values), ...idleMonitoring(values), ...idlePod(values)]
}

type Section = Record<string, unknown>

const defaults: Section = v.parse(valuesSchema, {})

/** What works although its section is switched off: delivery serves with the same Secret. */
const independent: readonly string[] = ['webhook.existingSecret']

/** Values inside of a section that is off, outer sections before inner ones, each value once. */
function switchedOff(values: Values): string[] {
  return changedBelow(values, defaults, [], undefined)
}

function changedBelow(section: Section, usual: Section, path: readonly string[], offBy: string | undefined): string[] {
  const off = offBy ?? (section['enabled'] === false ? [...path, 'enabled'].join('.') : undefined)
  return Object.entries(section).flatMap(([name, value]) => {
    const key = [...path, name].join('.')
    const before = usual[name]
    if (key === off || independent.includes(key)) return []
    if (isSection(value) && isSection(before) && Object.keys(before).length > 0) return changedBelow(value, before, [...path, name], off)
    return off === undefined || isDeepStrictEqual(value, before) ? [] : [`${key}: no effect while ${off} is false`]
  })
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function idleReceiver({ webhookReceiver: { enabled, hmac, token, ingress } }: Values): string[] {
  if (!enabled) return []
  const warnings = Object.entries({ hmac, token }).flatMap(([name, { secret, secretRef: ref }]) => {
    if (secret === '') return []
    return ref.name === ''
      ? [`webhookReceiver.${name}.secret: becomes a Secret in the manifests; do not commit them, or use secretRef`]
      : [`webhookReceiver.${name}.secret: ignored, because secretRef is set`]
  })
  if ([hmac, token].every(({ secret, secretRef: ref }) => secret === '' && ref.name === ''))
    warnings.push('webhookReceiver: neither hmac nor token is configured; anyone who reaches the receiver may push')
  return [...warnings, ...hostsWithoutRule(ingress)]
}

function hostsWithoutRule({ enabled, hosts, tls }: Values['webhookReceiver']['ingress']): string[] {
  if (!enabled) return []
  return tls.flatMap(({ hosts: named }, index) =>
    named
      .filter((host) => hosts.every((rule) => rule.host !== host))
      .map((host) => `webhookReceiver.ingress.tls.${index}.hosts: ${host} is none of webhookReceiver.ingress.hosts`),
  )
}

function idleMonitoring({ prometheusRule, serviceMonitor }: Values): string[] {
  if (!prometheusRule.enabled || serviceMonitor.enabled) return []
  return ['prometheusRule.enabled: the alerts need figures that only serviceMonitor.enabled lets the monitoring system collect']
}

function idlePod({ podLabels, webhook, replicaCount, podDisruptionBudget: budget, topologySpreadConstraints }: Values): string[] {
  const warnings = selectorKeys
    .filter((key) => podLabels[key] !== undefined)
    .map((key) => `podLabels: ${key} is ignored, because the Deployment selects its pods by it`)
  for (const [index, constraint] of topologySpreadConstraints.entries()) {
    if (constraint['labelSelector'] === undefined)
      warnings.push(`topologySpreadConstraints.${index}: no effect without a labelSelector, because it counts no pod`)
  }
  if (budget.enabled && budget.minAvailable > 1 && replicaCount === 1)
    warnings.push('podDisruptionBudget.minAvailable: no effect with one replica, which gets no budget')
  if (webhook.enabled && webhook.failurePolicy === 'Fail' && replicaCount === 1)
    warnings.push('webhook.failurePolicy: with one replica, gateway pods that ask for an agent wait while the controller restarts')
  return warnings
}
