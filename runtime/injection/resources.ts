/**
 * What the agent may use. The API server refuses a pod whose requests exceed its limits or name what no container can have, so nothing of
 * that kind is passed on. Pure.
 */
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
  return known.includes(name) && value !== undefined && quantity(value) >= 0
}

function exceeds({ requests = {}, limits = {} }: Resources): boolean {
  return known.some((name) => {
    const [request, limit] = [requests[name], limits[name]]
    return request !== undefined && limit !== undefined && quantity(request) > quantity(limit)
  })
}

const units = new Map<string, number>([
  ['n', 1e-9],
  ['u', 1e-6],
  ['m', 1e-3],
  ['', 1],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index): [string, number] => [unit, 1000 ** (index + 1)]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, index): [string, number] => [unit, 1024 ** (index + 1)]),
])

/** A quantity of Kubernetes as a number, precise enough to compare; NaN for what is none. */
function quantity(value: string | number): number {
  const [, number, unit = ''] = /^([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(String(value)) ?? []
  return number === undefined ? Number.NaN : Number(number) * (units.get(unit) ?? Number.NaN)
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
    return limit !== undefined && (requests?.[name] === undefined || quantity(requests[name]) === quantity(limit))
  })
}
