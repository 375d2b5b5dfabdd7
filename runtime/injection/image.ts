/**
 * Which image the agent runs, how it is pulled and what it may use: the installation's, or the GatewaySync's where that is permitted. Pure.
 */
import type { GatewaySyncSpec } from '../gatewaysync/spec.ts'
import type { ControllerSettings } from '../settings.ts'
import type { Pod } from './pod.ts'

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Installed = ControllerSettings['agent']

export type AgentImage = { image: string; imagePullPolicy: string; warning: string | undefined }

export function agentImage(installed: Installed, spec: AgentSpec | undefined): AgentImage {
  const { image, imagePullPolicy } = installed
  const asked = spec?.image
  if (asked === undefined) return { image, imagePullPolicy, warning: undefined }
  if (!installed.allowImageOverride) {
    const warning = 'spec.agent.image is not used: the installation does not set agent.allowImageOverride'
    return { image, imagePullPolicy, warning }
  }
  const { repository, suffix } = splitImage(image)
  const name = `${asked.repository ?? repository}${asked.tag === undefined ? suffix : `:${asked.tag}`}`
  return { image: name, imagePullPolicy: asked.pullPolicy ?? imagePullPolicy, warning: undefined }
}

/** `host:5000/a/b:tag@sha256:…` apart: a colon after the last slash begins the tag, an at sign the digest. */
function splitImage(image: string): { repository: string; suffix: string } {
  const name = image.slice(image.lastIndexOf('/') + 1)
  const at = name.search(/[:@]/)
  const suffix = at < 0 ? '' : name.slice(at)
  return { repository: image.slice(0, image.length - suffix.length), suffix }
}

/** The Secrets that the pod does not name yet. */
export function missingPullSecrets(installed: Installed, spec: AgentSpec | undefined, pod: Pod): { name: string }[] {
  const present = new Set((pod.spec.imagePullSecrets ?? []).map(({ name }) => name))
  const names = [...installed.imagePullSecrets, ...(spec?.imagePullSecrets ?? [])].map(({ name }) => name)
  return [...new Set(names)].filter((name) => !present.has(name)).map((name) => ({ name }))
}

type Quantities = Record<string, string | number>
type Resources = { requests?: Quantities | undefined; limits?: Quantities | undefined }

/** The GatewaySync's resources replace the installation's, each of requests and limits whole. */
export function agentResources(installed: Installed, spec: AgentSpec | undefined): Resources {
  const { requests, limits } = { ...(installed.resources as Resources), ...spec?.resources }
  return { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) }
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
    return limit !== undefined && (requests?.[name] === undefined || String(requests[name]) === String(limit))
  })
}
