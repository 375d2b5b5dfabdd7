/**
 * Records an Event on a pod that cannot be synced, for `kubectl describe pod`: once per pod and reason, and only for lasting problems,
 * because pods and their GatewaySync may be created in any order.
 */
import { type Clock, pause } from '../../platform/clock.ts'
import { isOutdated, observeGateways } from '../../reconcile/decide/gateways.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { type PodRecord, projectPod } from '../../reconcile/store/records.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { asFault } from '../../platform/fault.ts'
import { agentPodLabel } from '../../api/names.ts'
import type { Kube } from '../../kube/client.ts'
import { podType } from '../../kube/types.ts'
import type { Log } from '../../platform/log/log.ts'

/** Events on gateway pods; docs/reference/operations.md lists them. */
export const podEvents = {
  MissingAgent:
    'the pod requests an agent but has no working one: if it has several volumes, name the data volume by annotation, then recreate the pod',
  NotFollowed:
    'the pod names a GatewaySync that does not exist, or it names none and its namespace does not have exactly one: nothing is synced',
  AgentOutdated: 'the agent is too old for this GatewaySync: recreate the pod',
  StartedWithoutCommit: 'startDeadline has passed: the gateway started without a complete commit',
} as const

/** A pod and what keeps it from being synced. */
export type PodTrouble = { pod: PodRecord; reason: keyof typeof podEvents }

/** Check interval. A problem is reported when two checks in a row found it, so after at most twice this time. */
const everyMs = 30_000

/** Returns everything that keeps a pod from being synced now. */
export function findPodTroubles(store: Store): PodTrouble[] {
  const namespaces = new Set([...store.syncs().map(({ namespace }) => namespace), ...store.podNamespaces()])
  const pods = [...namespaces].flatMap((namespace) => store.podsIn(namespace)).filter(({ terminating }) => !terminating)
  const byPod = pods.flatMap((pod): PodTrouble[] => {
    const name = store.syncOfPod(pod)
    if (name !== undefined && store.isOther(pod.namespace, name)) return []
    if (!pod.injected) return [{ pod, reason: 'MissingAgent' }]
    if (isUnfollowed(store, pod)) return [{ pod, reason: 'NotFollowed' }]
    const report = store.reportsIn(pod.namespace).get(pod.name)
    const isLate = report?.podUid === pod.uid && report.status?.startedWithoutCommit === true
    return isLate ? [{ pod, reason: 'StartedWithoutCommit' }] : []
  })
  return [...byPod, ...outdatedPods(store)]
}

/** Whether the pod follows no GatewaySync, of this installation or another. */
function isUnfollowed(store: Store, pod: PodRecord): boolean {
  const name = store.syncOfPod(pod)
  return name === undefined || (store.sync(pod.namespace, name) === undefined && !store.isOther(pod.namespace, name))
}

/** Records a Warning on the pod with a constant reason and note. */
function recordTrouble(events: Pick<EventRecorder, 'record'>, { pod, reason }: PodTrouble): void {
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid }
  events.record({ regarding, type: 'Warning', reason, action: 'Sync', note: podEvents[reason] })
}

function outdatedPods(store: Store): PodTrouble[] {
  return store.syncs().flatMap((record) => {
    const spec = specOf(record)
    if (spec === undefined) return []
    const { namespace, name, status } = record
    const outdated = observeGateways(spec, status.published?.commit, store.podsOf(namespace, name), store.reportsIn(namespace)).filter(
      isOutdated,
    )
    return outdated.flatMap(({ pod: podName }) => {
      const pod = store.pod(namespace, podName)
      return pod === undefined ? [] : [{ pod, reason: 'AgentOutdated' as const }]
    })
  })
}

type Deps = { store: Store; events: Pick<EventRecorder, 'record'>; clock: Clock }

/** Checks every 30 s until `signal` aborts. */
export async function reportPodTroubles({ store, events, clock }: Deps, signal: AbortSignal): Promise<void> {
  /** The problems at the last check, and whether each was reported. */
  let known = new Map<string, boolean>()
  while (!signal.aborted) {
    await pause(clock, everyMs, signal)
    if (signal.aborted) return
    const next = new Map<string, boolean>()
    for (const trouble of findPodTroubles(store)) {
      const id = `${trouble.pod.uid} ${trouble.reason}`
      const wasReported = known.get(id)
      next.set(id, wasReported !== undefined)
      if (wasReported === false) recordTrouble(events, trouble)
    }
    known = next
  }
}

type UnwatchedDeps = { kube: Pick<Kube, 'listPages'>; store: Store; events: Pick<EventRecorder, 'record'>; clock: Clock; log: Log }

/** Namespaces to check once more. */
export type Unfollowed = {
  /** Call when an agent was injected in a namespace without a GatewaySync. `peer`: the client of admission, who may have invented it. */
  note(namespace: string, peer: string): void
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

const pollIntervalMs = 30_000
/** Delay of the check; other pod problems are reported after at most this time too. */
const reportAfterMs = 60_000
const maxNamespaces = 1_000

/**
 * Reports pods in namespaces without a GatewaySync, which are not watched: the replica that injected an agent into such a pod checks the
 * namespace once more later, after users had time to create one. Keeps at most 1,000 namespaces. Beyond that, the client that named the
 * most loses one.
 */
export function createUnfollowed({ kube, store, events, clock, log }: UnwatchedDeps): Unfollowed {
  const noted = new FairCache<{ namespace: string; atMs: number }>({ max: maxNamespaces })

  const poll = async (namespace: string, signal: AbortSignal): Promise<void> => {
    // The pods are watched now, so the leader reports their problems.
    if (store.podsIn(namespace).length > 0) return
    for await (const { items } of kube.listPages(podType, { namespace, labelSelector: `${agentPodLabel}=true` }, signal)) {
      for (const item of items) {
        const pod = projectPod(item)
        if (pod !== undefined && !pod.terminating && isUnfollowed(store, pod)) recordTrouble(events, { pod, reason: 'NotFollowed' })
      }
    }
  }
  return {
    note(namespace, peer) {
      noted.set(peer, `${peer} ${namespace}`, { namespace, atMs: clock.monotonicMs() })
    },
    async run(signal) {
      while (!signal.aborted) {
        await pause(clock, pollIntervalMs, signal)
        const due = [...noted.entries()].filter(({ value: { atMs } }) => clock.monotonicMs() - atMs >= reportAfterMs)
        for (const { key } of due) noted.delete(key)
        for (const namespace of new Set(due.map(({ value }) => value.namespace))) {
          if (signal.aborted) return
          await poll(namespace, signal).catch((error: unknown) => {
            const { reason, message } = asFault(error)
            if (!signal.aborted) log.info({ namespace, reason, message }, 'reporting pods without a GatewaySync failed')
          })
        }
      }
    },
  }
}
