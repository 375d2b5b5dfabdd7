/**
 * Projects GatewaySyncs, pods and SyncReports to the fields the controller keeps, when a watch delivers them, and compares them with those
 * before.
 */
import type { V1Container, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { agentVariables } from '../../settings/agent.ts'
import {
  agentContainerName,
  agentPodLabel,
  captureAnnotations,
  changesAnnotations,
  confirmDeletionsAnnotation,
  confirmOverwritesAnnotation,
  gatewayContainerName,
  podAnnotations,
  requestAnnotations,
  rolloutAnnotations,
  skipStagesAnnotation,
} from '../../api/names.ts'
import { type GatewayPod, type GatewayReport, parseReport } from '../decide/gateways.ts'
import type { Annotations } from '../decide/request.ts'
import type { ReportBounds } from '../decide/report-details.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Json, KubeObject, Stored } from '../../kube/types.ts'

/** A GatewaySync as the API server returns it; the spec is validated where it is used. */
export type GatewaySyncRecord = {
  namespace: string
  name: string
  uid: string
  resourceVersion: string
  generation: number
  /** Only the project's annotations. */
  annotations: Annotations
  spec: unknown
  /** Bytes of the spec and the annotations as JSON; absent outside a cluster. */
  keptBytes?: number
  /** Why only the repository of the spec is kept. */
  tooLarge?: string
  status: GatewaySyncStatus
}

/** `serviceAccount`: the account that gets the agent's role. */
export type PodRecord = GatewayPod & { serviceAccount: string }

/** A SyncReport, which has the name of its pod. `gatewaySync`: the one it names. */
export type ReportRecord = GatewayReport & { namespace: string; pod: string; gatewaySync: string }

/** `<namespace>/<name>` of a GatewaySync: the queue's key. */
export type SyncKey = string

/** The key of a GatewaySync in queues and maps. */
export function syncKey(namespace: string, name: string): SyncKey {
  return `${namespace}/${name}`
}

export function parseSyncKey(key: SyncKey): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

/** Limit of one spec, and of all specs of a namespace: the controller parses and keeps the specs of all namespaces. */
export const maxSpecBytes = 128 * 1024
export const maxNamespaceSpecBytes = 4 * 1024 * 1024
/** Limit of one namespace; a controller is sized for a thousand GatewaySyncs in all. */
export const maxNamespaceSyncs = 2_000
const maxRepoLength = 2048
const maxAnnotationLength = 1024
/** Limit of the annotation with the superseded requests. */
const maxEarlierRequestsLength = 8192

/** Projects a GatewaySync. */
export function projectGatewaySync(object: KubeObject): GatewaySyncRecord {
  const { metadata } = object
  const annotations = knownAnnotations(metadata.annotations)
  const specBytes = Buffer.byteLength(JSON.stringify(object.spec ?? null))
  const record = {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation ?? 0,
    annotations,
    spec: object.spec,
    keptBytes: specBytes + Buffer.byteLength(JSON.stringify(annotations)),
    status: object.status ?? {},
  }
  return specBytes <= maxSpecBytes ? record : withoutSpec(record, `spec is ${specBytes} bytes, more than ${maxSpecBytes}; shorten it`)
}

/**
 * Returns the record, without its spec if its namespace has more GatewaySyncs, or larger specs, than its share; `others`: the number and bytes
 * of the other GatewaySyncs there.
 */
export function withinShare(record: GatewaySyncRecord, others: { count: number; bytes: number }): GatewaySyncRecord {
  if (record.tooLarge !== undefined) return record
  if (others.bytes + (record.keptBytes ?? 0) > maxNamespaceSpecBytes) {
    const why = `the specs in namespace "${record.namespace}" are more than ${maxNamespaceSpecBytes} bytes together`
    return withoutSpec(record, `${why}; shorten or delete others, then change this one`)
  }
  if (others.count < maxNamespaceSyncs) return record
  const why = `namespace "${record.namespace}" has more than ${maxNamespaceSyncs} GatewaySyncs`
  return withoutSpec(record, `${why}; delete others, then change this one`)
}

/** Without the annotations too. Its mirror stays, because the repository is still named. */
function withoutSpec(record: GatewaySyncRecord, tooLarge: string): GatewaySyncRecord {
  const repo = (record.spec as { git?: { repo?: unknown } } | null)?.git?.repo
  return { ...record, annotations: {}, spec: typeof repo === 'string' && repo.length <= maxRepoLength ? { git: { repo } } : {}, tooLarge }
}

type ContainerStatus = Json<V1ContainerStatus>

/** Projects a pod that requested an agent; undefined for every other pod and for one that has completed. */
export function projectPod(object: Stored<V1Pod>): PodRecord | undefined {
  const { metadata } = object
  const annotations = knownAnnotations(metadata.annotations)
  if (annotations[podAnnotations.inject] !== 'true') return undefined
  const { initContainers = [], containers = [], serviceAccountName = 'default' } = object.spec ?? {}
  const { phase, initContainerStatuses = [], containerStatuses = [] } = object.status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed') return undefined
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    annotations,
    labels: selectableLabels(metadata.labels),
    injected: metadata.labels?.[agentPodLabel] === 'true' && [...initContainers, ...containers].some(isWorkingAgent),
    terminating: metadata.deletionTimestamp !== undefined,
    agentDown: agentDown([...initContainerStatuses, ...containerStatuses]),
    ...gatewayEnd(containerStatuses),
    serviceAccount: serviceAccountName,
  }
}

/** Whether a container is an agent with a data volume; without one an agent does nothing. */
function isWorkingAgent({ name, env = [] }: Json<V1Container>): boolean {
  return name === agentContainerName && env.some((entry) => entry.name === agentVariables.dataDir)
}

/** Returns why the agent's container is not running, if it had been started before. */
function agentDown(statuses: readonly ContainerStatus[]): string | undefined {
  const state = statuses.find(({ name }) => name === agentContainerName)?.state
  if (state?.terminated !== undefined)
    return `the agent exited: ${state.terminated.reason ?? 'exit'} ${state.terminated.exitCode ?? ''}`.trim()
  const waiting = state?.waiting?.reason
  const harmless = waiting === undefined || waiting === 'PodInitializing' || waiting === 'ContainerCreating'
  return harmless ? undefined : `the agent does not start: ${waiting}`
}

function gatewayEnd(statuses: readonly ContainerStatus[]): Pick<PodRecord, 'gatewayEndedAt'> {
  const gateway = statuses.find(({ name }) => name === gatewayContainerName)
  const finishedAt = (gateway?.state?.terminated ?? gateway?.lastState?.terminated)?.finishedAt
  return finishedAt === undefined ? {} : { gatewayEndedAt: finishedAt }
}

/** Projects a SyncReport. `bounds` limits the details kept for display (default: none). */
export function projectReport(object: KubeObject, bounds?: ReportBounds): ReportRecord {
  const spec = (object.spec ?? {}) as { gatewaySync?: unknown; podUid?: unknown }
  return {
    namespace: object.metadata.namespace ?? '',
    pod: object.metadata.name,
    gatewaySync: typeof spec.gatewaySync === 'string' ? spec.gatewaySync : '',
    ...parseReport(spec.podUid, object.status, bounds),
  }
}

/** Labels that differ with each pod or each revision of a workload, so that stages cannot select by them. */
const revisionLabels: ReadonlySet<string> = new Set(['controller-revision-hash', 'pod-template-hash', 'statefulset.kubernetes.io/pod-name'])

/** A pod has about ten labels; the first hundred by name are kept. */
const maxLabels = 100

/** Returns the labels that rollout stages may select by. */
function selectableLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const chosen = Object.entries(labels ?? {}).filter(([key]) => !revisionLabels.has(key))
  if (chosen.length <= maxLabels) return Object.fromEntries(chosen)
  return Object.fromEntries(chosen.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, maxLabels))
}

const ownAnnotations: readonly string[] = [
  ...[podAnnotations, requestAnnotations, captureAnnotations, changesAnnotations, rolloutAnnotations].flatMap((names) =>
    Object.values(names),
  ),
  confirmDeletionsAnnotation,
  confirmOverwritesAnnotation,
  skipStagesAnnotation,
]

/**
 * Returns the known annotations, truncated: the API server accepts texts of any length. They are copied, because V8 keeps the whole text for a
 * part of it.
 */
function knownAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(
    ownAnnotations.flatMap((key) => {
      const value = annotations[key]
      const maxLength = key === requestAnnotations.superseded ? maxEarlierRequestsLength : maxAnnotationLength
      if (value === undefined || value.length <= maxLength) return value === undefined ? [] : [[key, value]]
      return [[key, Buffer.from(value.slice(0, maxLength)).toString()]]
    }),
  )
}

/** The controller's own status writes come back through the watch and trigger no reconcile. */
export function isSameDesired(before: GatewaySyncRecord | undefined, after: GatewaySyncRecord): boolean {
  return before?.uid === after.uid && before.generation === after.generation && sameAnnotations(before.annotations, after.annotations)
}

/** Returns the parts of a report that decisions depend on. */
export function withoutDetails(report: ReportRecord | undefined): Partial<ReportRecord> {
  const { details: _, ...rest } = report ?? {}
  return rest
}

function sameAnnotations(a: Annotations, b: Annotations): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** Kubernetes 1.35 made resource versions comparable as whole numbers; with etcd they always were. */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
