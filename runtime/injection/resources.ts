/**
 * What the agent may use. The API server refuses a pod whose requests exceed its limits or name what no container can have, so nothing of
 * that kind is passed on. Pure.
 */
import { amountOf } from '../gatewaysync/quantity.ts'
import type { GatewaySyncSpec } from '../gatewaysync/spec.ts'
import type { ControllerSettings } from '../settings.ts'
import type { Pod } from './pod.ts'

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Quantities = Record<string, string | number>
export type Resources = { requests?: Quantities | undefined; limits?: Quantities | undefined }

export type AgentResources = { resources: Resources; warnings: string[] }

const known = ['cpu', 'memory', 'ephemeral-storage']

/** The GatewaySync's resources replace the installation's as a whole. */
export function agentResources(installed: ControllerSettings['agent'], spec: AgentSpec | undefined): AgentResources {
  const fallback = usable(installed.resources)
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

/** Whether the agent's resources would take the class Guaranteed from a pod that has it. */
export function endsGuaranteed(pod: Pod, agent: Resources): boolean {
  const present = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  return present.every(({ resources }) => isGuaranteed(resources ?? {})) && !isGuaranteed(agent)
}

/** A limit without a request counts as an equal request. */
function isGuaranteed({ requests, limits }: Resources): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = limits?.[name]
    return limit !== undefined && (requests?.[name] === undefined || amount(requests[name]) === amount(limit))
  })
}
