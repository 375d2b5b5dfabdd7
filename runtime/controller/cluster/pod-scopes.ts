/**
 * Limits pod watches to namespaces with a GatewaySync, because a cluster has many more pods. Each namespace needs a watch and so a
 * connection; with many namespaces one cluster-wide watch costs less.
 */
import type { Store } from '../../reconcile/store/store.ts'
import { type BoundedObjects, syncsOfNamespace } from '../../reconcile/store/bounded-objects.ts'
import { type GatewaySyncRecord, withinShare } from '../../reconcile/store/records.ts'

type Deps = {
  store: Pick<Store, 'upsertSync' | 'upsertOther' | 'removeSync' | 'podsIn' | 'removePod'>
  /** Watches the pods of a namespace, or of the whole scope, into the store until `signal` aborts; calls `listed` after the first list. */
  watch(namespace: string | undefined, listed: PodsListed, signal: AbortSignal): void
  /** With more namespaces than this, everything is watched. */
  maxNamespaces?: number
}

/** Called once, when the first list is complete; `isThere` says whether a pod was in it. */
export type PodsListed = (isThere: (pod: { namespace: string; name: string }) => boolean) => void

/** Receives the GatewaySyncs of a scope from their watch. */
export type PodScopes = {
  /** Passes a GatewaySync to the store once the pods of its namespace have been listed: until then it would seem to have none. */
  upsertSync(record: GatewaySyncRecord): boolean
  /** A GatewaySync of another installation; its pods are not watched. */
  upsertOther(namespace: string, name: string): boolean
  removeSync(namespace: string, name: string): void
  /** All GatewaySyncs have been listed, so the number of namespaces is known. */
  syncsListed(): void
}

/** A watch takes about 170 KiB. */
const defaultMaxNamespaces = 32

/** `signal` ends every watch. */
export function createPodScopes({ store, watch, maxNamespaces = defaultMaxNamespaces }: Deps, signal: AbortSignal): PodScopes {
  /** Watched namespaces, and whether their pods have been listed. They stay watched, because a deleted GatewaySync may return. */
  const watched = new Map<string, { listed: boolean; stop: AbortController }>()
  const waiting = new Map<string, BoundedObjects<GatewaySyncRecord>>()
  let syncsListed = false
  let everything: 'no' | 'listing' | 'listed' = 'no'

  const isListed = (namespace: string): boolean => everything === 'listed' || watched.get(namespace)?.listed === true
  const letIn = (namespace: string): void => {
    const records = waiting.get(namespace)
    waiting.delete(namespace)
    for (const record of records?.values() ?? []) store.upsertSync(record)
  }
  const watchNamespace = (namespace: string): void => {
    const entry = { listed: false, stop: new AbortController() }
    watched.set(namespace, entry)
    const listed = (): void => {
      entry.listed = true
      letIn(namespace)
    }
    watch(namespace, listed, AbortSignal.any([signal, entry.stop.signal]))
  }
  const watchEverything = (): void => {
    everything = 'listing'
    const listed: PodsListed = (isThere) => {
      everything = 'listed'
      for (const [namespace, { stop }] of watched) {
        stop.abort(new Error('everything is watched'))
        // The watch that ends here may not have reported a deletion yet.
        for (const pod of store.podsIn(namespace)) if (!isThere(pod)) store.removePod(namespace, pod.name)
      }
      watched.clear()
      for (const namespace of waiting.keys()) letIn(namespace)
    }
    watch(undefined, listed, signal)
  }
  const begin = (): void => {
    if (!syncsListed || everything !== 'no') return
    const fresh = [...waiting.keys()].filter((namespace) => !watched.has(namespace))
    if (watched.size + fresh.length > maxNamespaces) watchEverything()
    else fresh.forEach(watchNamespace)
  }

  return {
    upsertSync(record) {
      const { namespace, name } = record
      if (isListed(namespace)) return store.upsertSync(record)
      const records = waiting.get(namespace) ?? syncsOfNamespace()
      waiting.set(namespace, records)
      // All of a namespace may wait at a start, so they are bounded here as they are in the store.
      const isKept = records.set(name, withinShare(record, records.beside(name)))
      begin()
      return isKept
    },
    upsertOther(namespace, name) {
      waiting.get(namespace)?.delete(name)
      return store.upsertOther(namespace, name)
    },
    removeSync(namespace, name) {
      waiting.get(namespace)?.delete(name)
      store.removeSync(namespace, name)
    },
    syncsListed() {
      syncsListed = true
      begin()
    },
  }
}
