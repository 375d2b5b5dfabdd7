/**
 * What the agent may use. The API server refuses a pod whose requests exceed its limits or name what no container can have, so nothing of
 * that kind is passed on. Pure.
 */
import { amountOf } from '../gatewaysync/quantity.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { ControllerSettings } from '../settings.ts'
import type { Pod } from './pod.ts'

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Quantities = Record<string, string | number>
export type Resources = { requests?: Quantities | undefined; limits?: Quantities | undefined }

export type AgentResources = { resources: Resources; warnings: string[] }

const known = ['cpu', 'memory', 'ephemeral-storage']

/**
 * The GatewaySync's resources replace the installation's as a whole. Where neither it nor the pod's owner says otherwise, a pod keeps its
 * class: what a pod of the class Guaranteed is given besides has requests equal to its limits.
 */
export function agentResources(installed: ControllerSettings['agent'], spec: AgentSpec | undefined, pod: Pod): AgentResources {
  const fallback = usable(withoutSpec(installed, pod))
  if (spec?.resources === undefined) return fallback
  const asked = usable(spec.resources)
  const warnings = asked.warnings.map((warning) => `spec.agent.resources: ${warning}`)
  return exceeds(spec.resources) ? { resources: fallback.resources, warnings } : { resources: asked.resources, warnings }
}

function usable(resources: Resources): AgentResources {
  if (exceeds(resources)) return { resources: {}, warnings: ['a request exceeds its limit; not used'] }
  const [requests, limits] = [resources.requests, resources.limits].map((given) => given && only(given))
  const foreign = [resources.requests, resources.limits].flatMap((given) =>
    Object.keys(given ?? {}).filter((name) => !isUsable(given, name)),
  )
  const warnings = [...new Set(foreign)].map((name) => `${name} is not used; there are: ${known.join(', ')}`)
  return { resources: { ...(requests && { requests }), ...(limits && { limits }) }, warnings }
}

function only(given: Quantities): Quantities {
  return Object.fromEntries(Object.entries(given).filter(([name]) => isUsable(given, name)))
}

function isUsable(given: Quantities | undefined, name: string): boolean {
  const value = given?.[name]
  return known.includes(name) && value !== undefined && amount(value) >= 0
}

function exceeds({ requests = {}, limits = {} }: Resources): boolean {
  return known.some((name) => {
    const [request, limit] = [requests[name], limits[name]]
    return request !== undefined && limit !== undefined && amount(request) > amount(limit)
  })
}

/** Bytes or cores; NaN for what is no quantity, or less than none. */
function amount(value: string | number): number {
  return amountOf(String(value).replace(/^\+/, ''))
}

function withoutSpec({ resources, guaranteed }: ControllerSettings['agent'], pod: Pod): Resources {
  // Requests of containers may not exceed those of their pod, of which nobody knows how much is left.
  if (hasOwnResources(pod)) return {}
  if (guaranteed === undefined || !isWholeGuaranteed(pod)) return resources
  const { requests, limits } = resources
  const { cpu, memory } = guaranteed
  return { requests: { ...requests, cpu, memory }, limits: { ...limits, cpu, memory } }
}

/** Whether the agent's resources would take the class Guaranteed from a pod that has it. */
export function endsGuaranteed(pod: Pod, agent: Resources): boolean {
  return !hasOwnResources(pod) && isWholeGuaranteed(pod) && !isGuaranteed(agent)
}

/** With resources of the pod as a whole those of its containers do not decide about its class. */
function hasOwnResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {}
  return Object.keys({ ...requests, ...limits }).length > 0
}

function isWholeGuaranteed(pod: Pod): boolean {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].every(({ resources }) => isGuaranteed(resources ?? {}))
}

/** A limit without a request counts as an equal request, one of nothing as none. */
function isGuaranteed({ requests, limits }: Resources): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits?.[name]
    return limit !== undefined && amount(limit) > 0 && (requests?.[name] === undefined || amount(requests[name]) === amount(limit))
  })
}
