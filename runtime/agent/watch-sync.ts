/**
 * Watches the GatewaySync that an agent follows. A pod that was created before its GatewaySync, or that names none, finds it at run time by
 * the same rule as the controller, so the order in which objects are applied does not matter.
 */
import type { Clock } from '../platform/clock.ts'
import { gatewaySyncOfPod } from '../reconcile/decide/gateways.ts'
import type { Annotations } from '../reconcile/decide/request.ts'
import type { Kube } from '../kube/client.ts'
import { runListWatch } from '../kube/list-watch.ts'
import { gatewaySyncType, type KubeObject } from '../kube/types.ts'
import type { Log } from '../platform/log/log.ts'
import type { FollowedSync } from './desired.ts'

/** Read permission comes with the GatewaySync, so requests are forbidden until it exists; this bounds how late it is found. */
const longestForbiddenMs = 5_000

/** A watch of one GatewaySync, or of all in a namespace. */
export type SyncWatch = {
  /** The name of the GatewaySync that is followed now; undefined: none, or not exactly one. */
  name(): string | undefined
  /** Selects the GatewaySync again, by the pod's current annotations. */
  again(annotations: Annotations): void
  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

type Deps = { kube: Kube; clock: Clock; log: Log; observe(followed: FollowedSync | undefined): void }

type Pod = {
  namespace: string
  /** The name that the injection found in the pod's annotations. */
  named: string | undefined
  /** The pod's current annotations. */
  annotations(): Annotations
}

/**
 * Watches the GatewaySync that the pod names, otherwise the only one of its namespace; calls `observe` with each change, with undefined
 * while there is none.
 */
export function watchSync({ observe, ...deps }: Deps, { namespace, named, annotations }: Pod): SyncWatch {
  const known = new Map<string, FollowedSync>()
  let name = named
  const followedName = (now: Annotations): string | undefined => {
    const [only] = known.keys()
    return named ?? gatewaySyncOfPod(now, known.size === 1 ? only : undefined)
  }
  const notify = (now = annotations()): void => {
    name = followedName(now)
    observe(name === undefined ? undefined : known.get(name))
  }
  const set = {
    type: gatewaySyncType,
    namespace,
    ...(named === undefined ? {} : { fieldSelector: `metadata.name=${named}` }),
    project: ({ metadata, spec, status }: KubeObject): FollowedSync => ({
      uid: metadata.uid,
      annotations: metadata.annotations ?? {},
      spec,
      status: status ?? {},
    }),
  }
  let listed = false
  const handlers = {
    upsert(key: { name: string }, followed: FollowedSync) {
      known.set(key.name, followed)
      // Which of several is followed is known only after all were listed.
      if (listed || named !== undefined) notify()
    },
    remove(key: { name: string }) {
      known.delete(key.name)
      if (listed) notify()
    },
    synced() {
      listed = true
      notify()
    },
  }
  return {
    name: () => name,
    again(now) {
      if (listed && followedName(now) !== name) notify(now)
    },
    run: (signal) => runListWatch({ ...deps, longestForbiddenMs }, set, handlers, signal),
  }
}
