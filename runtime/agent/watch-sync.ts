/**
 * Which GatewaySync an agent follows, and its present state. A pod that was created before its GatewaySync, or that names none, finds it here
 * at run time, by the same rule as the controller; so the order in which objects are applied does not matter.
 */
import type { Clock } from '../clock.ts'
import { gatewaySyncOfPod } from '../gatewaysync/decide/gateways.ts'
import type { Annotations } from '../gatewaysync/decide/request.ts'
import type { Kube } from '../kube/client.ts'
import { runListWatch } from '../kube/list-watch.ts'
import { gatewaySyncType, type KubeObject } from '../kube/types.ts'
import type { Log } from '../log.ts'
import type { FollowedSync } from './desired.ts'

/** The right to read comes with the GatewaySync, so until there is one each attempt is refused; it should be found soon after. */
const longestForbiddenMs = 5_000

/** A watch over one GatewaySync, or over those of a namespace. */
export type SyncWatch = {
  /** The name of the GatewaySync that is followed now; undefined: none, or not exactly one. */
  name(): string | undefined
  /** Decides anew which one is followed, by the pod's annotations as they are now. */
  again(annotations: Annotations): void
  /** Watches until the signal. */
  run(signal: AbortSignal): Promise<void>
}

type Deps = { kube: Kube; clock: Clock; log: Log; observe(followed: FollowedSync | undefined): void }

type Pod = {
  namespace: string
  /** The name that injection found in the pod's annotations. */
  named: string | undefined
  /** The pod's annotations as they are now. */
  annotations(): Annotations
}

/**
 * Watches the GatewaySync that the pod names, else the only one of its namespace; `observe` is called with each change, with undefined
 * while there is none.
 */
export function watchSync({ observe, ...deps }: Deps, { namespace, named, annotations }: Pod): SyncWatch {
  const known = new Map<string, FollowedSync>()
  let name = named
  const followedName = (now: Annotations): string | undefined => {
    const [only] = known.keys()
    return named ?? gatewaySyncOfPod(now, known.size === 1 ? only : undefined)
  }
  const tell = (now = annotations()): void => {
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
      if (listed || named !== undefined) tell()
    },
    remove(key: { name: string }) {
      known.delete(key.name)
      if (listed) tell()
    },
    synced() {
      listed = true
      tell()
    },
  }
  return {
    name: () => name,
    again(now) {
      if (listed && followedName(now) !== name) tell(now)
    },
    run: (signal) => runListWatch({ ...deps, longestForbiddenMs }, set, handlers, signal),
  }
}
