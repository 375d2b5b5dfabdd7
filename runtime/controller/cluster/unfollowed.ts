/**
 * Pods in a namespace without a GatewaySync are not watched, so nothing would say there why they are not synced. The replica that injected an
 * agent into such a pod looks at the namespace once more, after people had time to create a GatewaySync.
 */
import { type Clock, pause } from '../../clock.ts'
import { asFault } from '../../fault.ts'
import { agentPodLabel } from '../../gatewaysync/names.ts'
import type { Kube } from '../../kube/client.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { podType } from '../../kube/types.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../reconcile/store.ts'
import { projectPod } from '../../reconcile/records.ts'
import { isUnfollowed, tellTrouble } from './pod-events.ts'

type Deps = { kube: Pick<Kube, 'listPages'>; store: Store; events: Pick<EventRecorder, 'record'>; clock: Clock; log: Log }

/** Namespaces to look at once more. */
export type Unfollowed = {
  /** To be called when an agent was injected in a namespace without a GatewaySync. */
  note(namespace: string): void
  /** Runs until the signal. */
  run(signal: AbortSignal): Promise<void>
}

const lookEveryMs = 30_000
/** How long after that to look; other troubles of a pod are reported after this time at most too. */
const tellAfterMs = 60_000
const maxNamespaces = 1_000

/** Remembers at most 1,000 namespaces; further ones are not looked at. */
export function createUnfollowed({ kube, store, events, clock, log }: Deps): Unfollowed {
  const notedMs = new Map<string, number>()

  const look = async (namespace: string, signal: AbortSignal): Promise<void> => {
    // By now the pods are watched, so the leader reports their troubles.
    if (store.podsIn(namespace).length > 0) return
    for await (const { items } of kube.listPages(podType, { namespace, labelSelector: `${agentPodLabel}=true` }, signal)) {
      for (const item of items) {
        const pod = projectPod(item)
        if (pod !== undefined && !pod.terminating && isUnfollowed(store, pod)) tellTrouble(events, { pod, reason: 'NotFollowed' })
      }
    }
  }
  return {
    note(namespace) {
      if (notedMs.size < maxNamespaces || notedMs.has(namespace)) notedMs.set(namespace, clock.monotonicMs())
    },
    async run(signal) {
      while (!signal.aborted) {
        await pause(clock, lookEveryMs, signal)
        const due = [...notedMs].filter(([, atMs]) => clock.monotonicMs() - atMs >= tellAfterMs)
        for (const [namespace] of due) {
          if (signal.aborted) return
          notedMs.delete(namespace)
          await look(namespace, signal).catch((error: unknown) => {
            const { reason, message } = asFault(error)
            if (!signal.aborted) log.info({ namespace, reason, message }, 'pods that follow nothing could not be told')
          })
        }
      }
    },
  }
}
