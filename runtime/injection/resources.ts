/**
 * Determines requests and limits of the agent. The API server rejects a pod whose requests exceed its limits or name unknown resources, so
 * such values are never passed on. Pure.
 */
import { amountOf } from '../api/quantity.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { ControllerSettings } from '../settings/controller.ts'
import type { Pod } from './pod.ts'

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Quantities = Record<string, string | number>
/** As in a container's spec. */
export type Resources = { requests?: Quantities | undefined; limits?: Quantities | undefined }

/** `warnings`: requested values that are not used. */
export type AgentResources = { resources: Resources; warnings: string[] }

const known = ['cpu', 'memory', 'ephemeral-storage']

/**
 * The GatewaySync's resources replace the installation's as a whole. By default a pod keeps its quality-of-service class: in a Guaranteed
 * pod the agent's requests equal its limits.
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

/** Bytes or cores; NaN unless the quantity is valid and not negative. */
function amount(value: string | number): number {
  return amountOf(String(value).replace(/^\+/, ''))
}

function withoutSpec({ resources, guaranteed }: ControllerSettings['agent'], pod: Pod): Resources {
  // Containers together may not request more than their pod, and the remaining amount is unknown.
  if (hasOwnResources(pod)) return {}
  if (guaranteed === undefined || !isWholeGuaranteed(pod)) return resources
  const { requests, limits } = resources
  const { cpu, memory } = guaranteed
  return { requests: { ...requests, cpu, memory }, limits: { ...limits, cpu, memory } }
}

/** Whether the agent's resources would take the class Guaranteed from the pod. */
export function endsGuaranteed(pod: Pod, agent: Resources): boolean {
  return !hasOwnResources(pod) && isWholeGuaranteed(pod) && !isGuaranteed(agent)
}

/** Whether the pod has pod-level resources: then those of its containers do not decide its class. */
function hasOwnResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {}
  return Object.keys({ ...requests, ...limits }).length > 0
}

function isWholeGuaranteed(pod: Pod): boolean {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].every(({ resources }) => isGuaranteed(resources ?? {}))
}

/** A limit without a request implies an equal request; a limit of 0 counts as none. */
function isGuaranteed({ requests, limits }: Resources): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits?.[name]
    return limit !== undefined && amount(limit) > 0 && (requests?.[name] === undefined || amount(requests[name]) === amount(limit))
  })
}
