/**
 * Which image the agent runs and how it is pulled: the installation's, or the GatewaySync's if that is permitted. Pure.
 */
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { ControllerSettings } from '../settings.ts'
import type { Pod } from './pod.ts'

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Installed = ControllerSettings['agent']

/** `warning`: why the GatewaySync's image is not used. */
export type AgentImage = { image: string; imagePullPolicy: string; warning: string | undefined }

/** The installation's image, or the GatewaySync's if the installation permits that. */
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
  // The API server refuses a pod whose image begins or ends with a space.
  if (/\s/.test(name)) return { image, imagePullPolicy, warning: `spec.agent.image is not used: "${name}" holds a space` }
  return { image: name, imagePullPolicy: asked.pullPolicy ?? imagePullPolicy, warning: undefined }
}

/** Splits `host:5000/a/b:tag@sha256:…`: a colon after the last slash begins the tag, an at sign the digest. */
function splitImage(image: string): { repository: string; suffix: string } {
  const name = image.slice(image.lastIndexOf('/') + 1)
  const at = name.search(/[:@]/)
  const suffix = at < 0 ? '' : name.slice(at)
  return { repository: image.slice(0, image.length - suffix.length), suffix }
}

/** The pull secrets of installation and GatewaySync that the pod does not name yet. */
export function missingPullSecrets(installed: Installed, spec: AgentSpec | undefined, pod: Pod): { name: string }[] {
  const present = new Set((pod.spec.imagePullSecrets ?? []).map(({ name }) => name))
  const names = [...installed.imagePullSecrets, ...(spec?.imagePullSecrets ?? [])].map(({ name }) => name)
  return [...new Set(names)].filter((name) => !present.has(name)).map((name) => ({ name }))
}
