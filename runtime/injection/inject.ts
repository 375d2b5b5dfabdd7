/**
 * Computes the JSON patch that injects an agent into a gateway pod. A pod is never rejected: if something is missing, the agent idles and
 * the API server shows a warning. Pure.
 */
import * as v from 'valibot'
import type { EnvEntry } from '../settings/agent.ts'
import { agentPodLabel, agentContainerName, maxGatewayNameLength, podAnnotations } from '../api/names.ts'
import { gatewaySyncSpec, type GatewaySyncSpec } from '../api/schema/spec.ts'
import type { ControllerSettings } from '../settings/controller.ts'
import { tracingEnvironment, type TracingSettings } from '../telemetry/tracing/settings.ts'
import { agentContainer, freePort, agentResources, endsGuaranteed } from './container.ts'
import type { Pod, VolumeMount } from './pod.ts'
import { type Copies, copiesWarning, copyReferences, createCopies, modeVariables, withoutRepeats } from './variables.ts'
import { agentVolumes, probeFolder, type DataVolume, findDataVolume, gatewayContainer } from './volumes.ts'

/** The installation's settings for every agent. */
export type InjectionSettings = {
  agent: ControllerSettings['agent']
  delivery: ControllerSettings['delivery']
  /** Undefined: agents send no traces. */
  tracing?: TracingSettings | undefined
}

/** The GatewaySync that a pod follows, as far as known. */
export type FoundSync =
  | { kind: 'found'; name: string; spec: unknown }
  /** The pod names one that does not exist. `ambiguous`: it names none, and its namespace has `count` instead of one. */
  | { kind: 'missing'; name: string }
  | { kind: 'ambiguous'; count: number }
  /** It belongs to another installation. */
  | { kind: 'foreign'; name: string }
  /** It could not be read. */
  | { kind: 'unknown'; name: string | undefined; why: string }

/** `warnings` and `why` are shown to the user who creates the pod. */
export type Injection = { kind: 'patch'; operations: JsonPatch[]; warnings: string[] } | { kind: 'unchanged'; why: string }

/** The value of the annotation on an injected pod. */
const injectedValue = 'true'

const notGuaranteed = 'the pod loses the QoS class Guaranteed; set equal requests and limits of cpu and memory in spec.agent.resources'

const isWindows = ({ spec: { os, nodeSelector } }: Pod): boolean =>
  os?.name === 'windows' || nodeSelector?.['kubernetes.io/os'] === 'windows'

const ofAnother = (name: string): string =>
  `GatewaySync "${name}" belongs to another installation; give the pod the labels that its installation selects`

const specSchema = gatewaySyncSpec({ allowLocal: true })

/** Returns the GatewaySync that a pod names; undefined: it follows the only one of its namespace. */
export function namedSync(pod: Pod): string | undefined {
  const name = pod.metadata.annotations?.[podAnnotations.gatewaySync]
  return name === '' ? undefined : name
}

/** Says that the name of the gateway is shortened; undefined: it is not. */
function longName({ metadata }: Pod): string | undefined {
  const { length } = metadata.annotations?.[podAnnotations.gatewayName] ?? ''
  if (length <= maxGatewayNameLength) return undefined
  return `annotation ${podAnnotations.gatewayName} has ${length} characters; only the first ${maxGatewayNameLength} are used`
}

/** Returns why a pod gets no agent; undefined: it gets one. */
export function whyUnchanged(pod: Pod): string | undefined {
  if (pod.metadata.annotations?.[podAnnotations.inject] !== 'true') return `the pod is not annotated ${podAnnotations.inject}: "true"`
  const present = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  return present.some(({ name }) => name === agentContainerName) ? 'the pod already has an agent' : undefined
}

/** Returns the JSON patch that gives a pod exactly one agent, and the warnings about it. Idempotent. Never throws. */
export function injectAgent(pod: Pod, settings: InjectionSettings, sync: FoundSync): Injection {
  const why = whyUnchanged(pod)
  if (why !== undefined) return { kind: 'unchanged', why }
  if (isWindows(pod)) return { kind: 'unchanged', why: 'the pod runs on Windows, but the agent needs Linux: no agent is injected' }
  // This installation has no content for another installation's GatewaySync.
  if (sync.kind === 'foreign') return { kind: 'unchanged', why: ofAnother(sync.name) }
  const read = readSync(sync)
  const spec = read.spec?.agent
  const data = findDataVolume(pod)
  const image = agentImage(settings.agent, spec)
  const { resources, warnings } = agentResources(settings.agent, spec, pod)
  const taken = (pod.spec.volumes ?? []).map(({ name }) => name)
  // Another program may use a port of the node: declared, it would keep the pod from being scheduled; used, from starting.
  const onHost = isOnHostNetwork(pod)
  const own = agentVolumes(taken, { withProbes: onHost })
  const deliveryHost = URL.parse(settings.delivery.url)?.host ?? settings.delivery.url
  const copies = createCopies()
  const { mounts, env } = dataMount(pod, data, copies)
  const container = agentContainer(pod, {
    ...image,
    resources,
    env: withoutRepeats([...env, ...modeVariables(gatewayContainer(pod), copies), ...tracingEnvironment(settings.tracing)]),
    mounts: [...mounts, ...own.map(({ mount }) => mount)],
    probes: onHost ? { folder: probeFolder } : { port: freePort(pod) },
    settings: {
      ...own.reduce((all, { setting }) => ({ ...all, ...setting }), {}),
      ...(read.name === undefined ? {} : { gatewaySync: read.name }),
      ...(data.kind === 'found' ? { dataDir: data.mount.mountPath } : {}),
      deliveryHost,
      // The agent's own default, so that most pods need no setting.
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
      longName(pod),
      data.kind === 'missing' ? `${data.why}; the agent stays idle` : data.warning,
      unresolvable(pod, deliveryHost),
      image.warning,
      copiesWarning(copies),
      ...warnings,
      endsGuaranteed(pod, resources) ? notGuaranteed : undefined,
    ].filter((warning) => warning !== undefined),
  }
}

/** Returns the gateway's own mount of the data volume, with the variables in its path. */
function dataMount(pod: Pod, data: DataVolume, copies: Copies): { mounts: VolumeMount[]; env: EnvEntry[] } {
  if (data.kind === 'missing') return { mounts: [], env: [] }
  const { subPathExpr } = data.mount
  if (subPathExpr === undefined) return { mounts: [data.mount], env: [] }
  const { text, env } = copyReferences(subPathExpr, gatewayContainer(pod), copies)
  return { mounts: [{ ...data.mount, subPathExpr: text }], env }
}

type ReadSync = { name: string | undefined; spec: GatewaySyncSpec | undefined; warning: string | undefined }

/** A name is passed on even before such a GatewaySync exists: the agent waits for it. */
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
  const warning = `the namespace has ${sync.count} GatewaySyncs; name one in the annotation ${podAnnotations.gatewaySync}; otherwise the agent waits until there is exactly one`
  return { name: undefined, spec: undefined, warning }
}

function readSpec(name: string, spec: unknown): ReadSync {
  const parsed = v.safeParse(specSchema, spec)
  if (parsed.success) return { name, spec: parsed.output, warning: undefined }
  const [issue] = parsed.issues
  return { name, spec: undefined, warning: `GatewaySync "${name}" is invalid: spec.${v.getDotPath(issue) ?? ''}: ${issue.message}` }
}

/** Whether all containers of the pod use the host network. */
function isOnHostNetwork(pod: Pod): boolean {
  return pod.spec.hostNetwork === true
}

/** Why the agent cannot resolve the content server's host `deliveryHost` (`host:port`); undefined: it can. */
function unresolvable({ spec: { hostNetwork, dnsPolicy = 'ClusterFirst' } }: Pod, deliveryHost: string): string | undefined {
  if (!/\.svc(?:\.|:|$)/.test(deliveryHost)) return undefined
  const remedy = `set dnsPolicy: ${hostNetwork === true ? 'ClusterFirstWithHostNet' : 'ClusterFirst'}, or the agent cannot resolve ${deliveryHost}`
  if (dnsPolicy === 'Default') return `dnsPolicy: Default does not resolve Services; ${remedy}`
  return hostNetwork === true && dnsPolicy === 'ClusterFirst'
    ? `dnsPolicy: ClusterFirst does not resolve Services on hostNetwork; ${remedy}`
    : undefined
}

type AgentSpec = NonNullable<GatewaySyncSpec['agent']>
type Installed = ControllerSettings['agent']

/** `warning`: why the GatewaySync's image is not used. */
type AgentImage = { image: string; imagePullPolicy: string; warning: string | undefined }

/** The installation's image, or the GatewaySync's if the installation permits that. */
function agentImage(installed: Installed, spec: AgentSpec | undefined): AgentImage {
  const { image, imagePullPolicy } = installed
  const requested = spec?.image
  if (requested === undefined) return { image, imagePullPolicy, warning: undefined }
  if (!installed.allowImageOverride) {
    const warning = 'spec.agent.image is not used: the installation does not set agent.allowImageOverride'
    return { image, imagePullPolicy, warning }
  }
  const { repository, suffix } = splitImage(image)
  const name = `${requested.repository ?? repository}${requested.tag === undefined ? suffix : `:${requested.tag}`}`
  // The API server rejects a pod whose image begins or ends with a space.
  if (/\s/.test(name)) return { image, imagePullPolicy, warning: `spec.agent.image is not used: "${name}" contains a space` }
  return { image: name, imagePullPolicy: requested.pullPolicy ?? imagePullPolicy, warning: undefined }
}

/** Splits `host:5000/a/b:tag@sha256:…`: a colon after the last slash begins the tag, an at sign the digest. */
function splitImage(image: string): { repository: string; suffix: string } {
  const name = image.slice(image.lastIndexOf('/') + 1)
  const at = name.search(/[:@]/)
  const suffix = at < 0 ? '' : name.slice(at)
  return { repository: image.slice(0, image.length - suffix.length), suffix }
}

/** Returns the pull secrets of installation and GatewaySync that the pod does not name yet. */
function missingPullSecrets(installed: Installed, spec: AgentSpec | undefined, pod: Pod): { name: string }[] {
  const present = new Set((pod.spec.imagePullSecrets ?? []).map(({ name }) => name))
  const names = [...installed.imagePullSecrets, ...(spec?.imagePullSecrets ?? [])].map(({ name }) => name)
  return [...new Set(names)].filter((name) => !present.has(name)).map((name) => ({ name }))
}

/** An RFC 6902 operation. Written by hand instead of by comparison, so that a patch changes only the agent's fields. */
export type JsonPatch = { op: 'add'; path: string; value: unknown }

/** Appends entries to a list, which is created if missing. */
function addToList(path: string, present: readonly unknown[] | undefined | null, entries: readonly unknown[]): JsonPatch[] {
  if (entries.length === 0) return []
  if (present === undefined || present === null) return [{ op: 'add', path, value: entries }]
  return entries.map((value) => ({ op: 'add', path: `${path}/-`, value }))
}

/** Sets members of a map, which is created if missing. */
function addToMap(path: string, present: object | undefined | null, members: Readonly<Record<string, unknown>>): JsonPatch[] {
  const entries = Object.entries(members)
  if (entries.length === 0) return []
  if (present === undefined || present === null) return [{ op: 'add', path, value: members }]
  return entries.map(([key, value]) => ({ op: 'add', path: `${path}/${escapeSegment(key)}`, value }))
}

/** RFC 6901, section 3. */
function escapeSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
