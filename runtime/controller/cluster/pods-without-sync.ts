/**
 * Reports pods without a GatewaySync in their namespace, which are not watched. The replica that injected an agent into such a pod checks
 * the namespace once more later, after users had time to create a GatewaySync.
 */
import { type Clock, pause } from '../../platform/clock.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { asFault } from '../../platform/fault.ts'
import { agentPodLabel } from '../../api/names.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { podType } from '../../kube/types.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { projectPod } from '../../reconcile/store/records.ts'
import { isUnfollowed, recordTrouble } from './pod-events.ts'

type Deps = { kube: Pick<Kube, 'listPages'>; store: Store; events: Pick<EventRecorder, 'record'>; clock: Clock; log: Log }

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

/** Keeps at most 1,000 namespaces. Beyond that, the client that named the most loses one. */
export function createUnfollowed({ kube, store, events, clock, log }: Deps): Unfollowed {
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
            if (!signal.aborted) log.info({ namespace, reason, message }, 'report pods without a GatewaySync failed')
          })
        }
      }
    },
  }
}
