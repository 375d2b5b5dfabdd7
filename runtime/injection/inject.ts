/**
 * Flow D, without the HTTP around it: the JSON patch that puts an agent into a gateway pod. Nothing here refuses a pod: if something is
 * missing, the agent idles and the API server shows a warning. Pure.
 */
import * as v from 'valibot'
import type { EnvEntry } from '../agent-settings.ts'
import { agentPodLabel, agentContainerName, podAnnotations } from '../gatewaysync/names.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { ControllerSettings } from '../settings.ts'
import { tracingEnvironment, type TracingSettings } from '../tracing/settings.ts'
import { agentContainer, freePort } from './container.ts'
import { type DataVolume, findDataVolume, gatewayContainer } from './data-volume.ts'
import { isOnHostNetwork, unresolvable } from './host-network.ts'
import { agentImage, missingPullSecrets } from './image.ts'
import { addToList, addToMap, type JsonPatch } from './json-patch.ts'
import type { Pod, VolumeMount } from './pod.ts'
import { agentResources, endsGuaranteed } from './resources.ts'
import { copyReferences, modeVariables, withoutRepeats } from './variables.ts'
import { agentVolumes, probeFolder } from './volumes.ts'

/** What the installation decides for every agent. */
export type InjectionSettings = {
  agent: ControllerSettings['agent']
  delivery: ControllerSettings['delivery']
  /** Undefined: agents trace nothing. */
  tracing?: TracingSettings | undefined
}

/** What is known about the GatewaySync that a pod follows. */
export type FoundSync =
  | { kind: 'found'; name: string; spec: unknown }
  /** The pod names one that does not exist. `ambiguous`: it names none, and its namespace has `count`, which is not one. */
  | { kind: 'missing'; name: string }
  | { kind: 'ambiguous'; count: number }
  /** It belongs to another installation. */
  | { kind: 'foreign'; name: string }
  /** It could not be read. */
  | { kind: 'unknown'; name: string | undefined; why: string }

/** `warnings` and `why` are shown to whoever creates the pod. */
export type Injection = { kind: 'patch'; operations: JsonPatch[]; warnings: string[] } | { kind: 'unchanged'; why: string }

/** The value of the annotation on an injected pod. */
const injectedValue = 'true'

const notGuaranteed = 'the pod loses the class Guaranteed; give spec.agent.resources equal requests and limits of cpu and memory'

const ofAnother = (name: string): string =>
  `GatewaySync "${name}" is not one of this installation's; give the pod the labels by which the installation of its GatewaySync selects`

const specSchema = gatewaySyncSpec({ allowLocal: true })

/** The GatewaySync that a pod names; undefined: it follows the only one of its namespace. */
export function namedSync(pod: Pod): string | undefined {
  const name = pod.metadata.annotations?.[podAnnotations.gatewaySync]
  return name === '' ? undefined : name
}

/** Why a pod gets no agent; undefined: it gets one. */
export function whyUnchanged(pod: Pod): string | undefined {
  if (pod.metadata.annotations?.[podAnnotations.inject] !== 'true') return `the pod is not annotated ${podAnnotations.inject}: "true"`
  const present = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  return present.some(({ name }) => name === agentContainerName) ? 'the pod has its agent' : undefined
}

/**
 * The JSON patch that gives a pod exactly one agent, and the warnings about it. The same pod twice gives the same as once. Never throws.
 */
export function injectAgent(pod: Pod, settings: InjectionSettings, sync: FoundSync): Injection {
  const why = whyUnchanged(pod)
  if (why !== undefined) return { kind: 'unchanged', why }
  // An agent of ours would look for content where nobody has it.
  if (sync.kind === 'foreign') return { kind: 'unchanged', why: ofAnother(sync.name) }
  const read = readSync(sync)
  const spec = read.spec?.agent
  const data = findDataVolume(pod)
  const image = agentImage(settings.agent, spec)
  const { resources, warnings } = agentResources(settings.agent, spec, pod)
  const taken = (pod.spec.volumes ?? []).map(({ name }) => name)
  // A port of the node may be anybody's: declared, it would keep the pod from being scheduled; taken, from starting.
  const onHost = isOnHostNetwork(pod)
  const own = agentVolumes(taken, { withProbes: onHost })
  const deliveryHost = URL.parse(settings.delivery.url)?.host ?? settings.delivery.url
  const { mounts, env } = dataMount(pod, data)
  const container = agentContainer(pod, {
    ...image,
    resources,
    env: withoutRepeats([...env, ...modeVariables(gatewayContainer(pod)), ...tracingEnvironment(settings.tracing)]),
    mounts: [...mounts, ...own.map(({ mount }) => mount)],
    probes: onHost ? { folder: probeFolder } : { port: freePort(pod) },
    settings: {
      ...own.reduce((all, { setting }) => ({ ...all, ...setting }), {}),
      ...(read.name === undefined ? {} : { gatewaySync: read.name }),
      ...(data.kind === 'found' ? { dataDir: data.mount.mountPath } : {}),
      deliveryHost,
      // The agent's own default, so that most pods are told nothing.
      ...(settings.agent.logLevel === 'info' ? {} : { logLevel: settings.agent.logLevel }),
    },
    security: settings.agent.securityContext,
  })
  const annotations = {
    [podAnnotations.injected]: injectedValue,
    ...(namedSync(pod) === undefined && read.name !== undefined ? { [podAnnotations.gatewaySync]: read.name } : {}),
  }
  const volumes = own.map(({ volume }) => volume)
  const pullSecrets = missingPullSecrets(settings.agent, spec, pod)
  return {
    kind: 'patch',
    operations: [
      ...addToMap('/metadata/annotations', pod.metadata.annotations, annotations),
      ...addToMap('/metadata/labels', pod.metadata.labels, { [agentPodLabel]: 'true' }),
      ...addToList('/spec/volumes', pod.spec.volumes, volumes),
      ...addToList('/spec/imagePullSecrets', pod.spec.imagePullSecrets, pullSecrets),
      // Last, so after one that seeds the data volume.
      ...addToList('/spec/initContainers', pod.spec.initContainers, [container]),
    ],
    warnings: [
      read.warning,
      data.kind === 'missing' ? `${data.why}; the agent stays idle` : data.warning,
      unresolvable(pod, deliveryHost),
      image.warning,
      ...warnings,
      endsGuaranteed(pod, resources) ? notGuaranteed : undefined,
    ].filter((warning) => warning !== undefined),
  }
}

/** The gateway's own mount of the data volume; what its path is made of comes along. */
function dataMount(pod: Pod, data: DataVolume): { mounts: VolumeMount[]; env: EnvEntry[] } {
  if (data.kind === 'missing') return { mounts: [], env: [] }
  const { subPathExpr } = data.mount
  if (subPathExpr === undefined) return { mounts: [data.mount], env: [] }
  const { text, env } = copyReferences(subPathExpr, gatewayContainer(pod))
  return { mounts: [{ ...data.mount, subPathExpr: text }], env }
}

type ReadSync = { name: string | undefined; spec: GatewaySyncSpec | undefined; warning: string | undefined }

/** A name is passed on even where no such GatewaySync exists yet: the agent waits for it. */
function readSync(sync: Exclude<FoundSync, { kind: 'foreign' }>): ReadSync {
  if (sync.kind === 'found') return readSpec(sync.name, sync.spec)
  if (sync.kind === 'missing') {
    return {
      name: sync.name,
      spec: undefined,
      warning: `GatewaySync "${sync.name}" does not exist; the agent follows it as soon as it does`,
    }
  }
  if (sync.kind === 'unknown') return { name: sync.name, spec: undefined, warning: `the GatewaySync could not be read: ${sync.why}` }
  const warning = `the namespace has ${sync.count} GatewaySyncs; name one in the annotation ${podAnnotations.gatewaySync}; until then the agent follows the only one, once there is exactly one`
  return { name: undefined, spec: undefined, warning }
}

function readSpec(name: string, spec: unknown): ReadSync {
  const parsed = v.safeParse(specSchema, spec)
  if (parsed.success) return { name, spec: parsed.output, warning: undefined }
  const [issue] = parsed.issues
  return { name, spec: undefined, warning: `GatewaySync "${name}" is invalid: spec.${v.getDotPath(issue) ?? ''}: ${issue.message}` }
}
