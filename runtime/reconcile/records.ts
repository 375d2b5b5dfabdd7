/** What the controller keeps of a GatewaySync, a pod and a SyncReport: a projection of each, made where a watch brings the object. */
import { agentVariables } from '../agent-settings.ts'
import { agentContainerName, agentPodLabel, gatewayContainerName, group, podAnnotations } from '../gatewaysync/names.ts'
import { type GatewayPod, type GatewayReport, parseReport } from '../gatewaysync/decide/gateways.ts'
import type { Annotations } from '../gatewaysync/decide/request.ts'
import type { ToldBounds } from '../gatewaysync/decide/told.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import type { KubeObject } from '../kube/types.ts'

/** A GatewaySync as the API server holds it; the spec is validated where it is used. */
export type GatewaySyncRecord = {
  namespace: string
  name: string
  uid: string
  resourceVersion: string
  generation: number
  /** Only annotations of ours. */
  annotations: Annotations
  spec: unknown
  status: GatewaySyncStatus
}

/** `serviceAccount`: the account that gets the agent's role. */
export type PodRecord = GatewayPod & { serviceAccount: string }

/** A SyncReport, whose name is that of its pod. `gatewaySync`: the one that it names. */
export type ReportRecord = GatewayReport & { namespace: string; pod: string; gatewaySync: string }

/** `<namespace>/<name>` of a GatewaySync: what the queue holds. */
export type SyncKey = string

/** The key of a GatewaySync in queues and maps. */
export function syncKey(namespace: string, name: string): SyncKey {
  return `${namespace}/${name}`
}

/** What the controller keeps of a GatewaySync. */
export function projectGatewaySync(object: KubeObject): GatewaySyncRecord {
  const { metadata } = object
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation ?? 0,
    annotations: ours(metadata.annotations),
    spec: object.spec,
    status: object.status ?? {},
  }
}

type PodShape = {
  serviceAccountName?: string
  initContainers?: ContainerShape[]
  containers?: ContainerShape[]
}
type ContainerShape = { name: string; env?: { name: string }[] }
type ContainerStatus = {
  name: string
  restartCount?: number
  state?: { waiting?: { reason?: string; message?: string }; terminated?: { reason?: string; exitCode?: number; finishedAt?: string } }
  lastState?: { terminated?: { finishedAt?: string } }
}
type PodStatusShape = { initContainerStatuses?: ContainerStatus[]; containerStatuses?: ContainerStatus[]; phase?: string }

/** A pod that asked for an agent, or undefined for every other pod and for one that has run to its end. */
export function projectPod(object: KubeObject): PodRecord | undefined {
  const { metadata } = object
  const annotations = ours(metadata.annotations)
  if (annotations[podAnnotations.inject] !== 'true') return undefined
  const spec = (object.spec ?? {}) as PodShape
  const status = (object.status ?? {}) as PodStatusShape
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return undefined
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    annotations,
    labels: choosing(metadata.labels),
    injected: metadata.labels?.[agentPodLabel] === 'true' && containers.some(isWorkingAgent),
    terminating: metadata.deletionTimestamp !== undefined,
    agentDown: agentDown([...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]),
    ...gatewayEnd(status.containerStatuses ?? []),
    serviceAccount: spec.serviceAccountName ?? 'default',
  }
}

/** Whether a container is an agent with a data volume; without one an agent does nothing. */
function isWorkingAgent({ name, env = [] }: ContainerShape): boolean {
  return name === agentContainerName && env.some((entry) => entry.name === agentVariables.dataDir)
}

/** Why the agent's container is not running, if it had been started before. */
function agentDown(statuses: readonly ContainerStatus[]): string | undefined {
  const state = statuses.find(({ name }) => name === agentContainerName)?.state
  if (state?.terminated !== undefined)
    return `the agent ended: ${state.terminated.reason ?? 'exit'} ${state.terminated.exitCode ?? ''}`.trim()
  const waiting = state?.waiting?.reason
  const harmless = waiting === undefined || waiting === 'PodInitializing' || waiting === 'ContainerCreating'
  return harmless ? undefined : `the agent does not start: ${waiting}`
}

function gatewayEnd(statuses: readonly ContainerStatus[]): Pick<PodRecord, 'gatewayEndedAt'> {
  const gateway = statuses.find(({ name }) => name === gatewayContainerName)
  const finishedAt = (gateway?.state?.terminated ?? gateway?.lastState?.terminated)?.finishedAt
  return finishedAt === undefined ? {} : { gatewayEndedAt: finishedAt }
}

/** What is kept of a SyncReport. `bounds`: how much of what only people read; by itself nothing. */
export function projectReport(object: KubeObject, bounds?: ToldBounds): ReportRecord {
  const spec = (object.spec ?? {}) as { gatewaySync?: unknown; podUid?: unknown }
  return {
    namespace: object.metadata.namespace ?? '',
    pod: object.metadata.name,
    gatewaySync: typeof spec.gatewaySync === 'string' ? spec.gatewaySync : '',
    ...parseReport(spec.podUid, object.status, bounds),
  }
}

/** Labels that differ with each pod or each revision of a workload, so that nobody chooses by them. */
const passing: ReadonlySet<string> = new Set(['controller-revision-hash', 'pod-template-hash', 'statefulset.kubernetes.io/pod-name'])

/** Labels that the stages of a rollout may choose by. */
function choosing(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !passing.has(key)))
}

function ours(annotations: Annotations | undefined): Annotations {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => key.startsWith(`${group}/`)))
}
