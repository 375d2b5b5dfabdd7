/**
 * Which pods are watched: those of namespaces that hold a GatewaySync, for a cluster has many more. Each namespace is a watch of its own, and
 * so a connection; where there are many of them one watch over everything costs less.
 */
import type { GatewaySyncRecord, Store } from '../reconcile/store.ts'

type Deps = {
  store: Pick<Store, 'upsertSync' | 'upsertOther' | 'removeSync' | 'podsIn' | 'removePod'>
  /** Keeps the store informed of the pods of a namespace, or of the whole scope, until the signal; calls back after the first list. */
  watch(namespace: string | undefined, listed: PodsListed, signal: AbortSignal): void
  /** From more namespaces on everything is watched. */
  mostNamespaces?: number
}

/** Told once, when the first list is complete; it knows what was in it. */
export type PodsListed = (isThere: (pod: { namespace: string; name: string }) => boolean) => void

/** The GatewaySyncs of a scope as their watch tells of them. */
export type PodScopes = {
  /** A GatewaySync counts once the pods of its namespace have been listed: until then it would seem to have none. */
  upsertSync(record: GatewaySyncRecord): void
  /** One of another installation, whose pods are that one's business. */
  upsertOther(namespace: string, name: string): void
  removeSync(namespace: string, name: string): void
  /** All GatewaySyncs have been told, so that it is known how many namespaces there are. */
  syncsListed(): void
}

/** Some 170 KiB each. */
const usualNamespaces = 32

/** `signal` ends every watch. */
export function createPodScopes({ store, watch, mostNamespaces = usualNamespaces }: Deps, signal: AbortSignal): PodScopes {
  /** Namespaces that are watched, with whether their pods have been listed. They stay: whoever deletes a GatewaySync may bring it back. */
  const watched = new Map<string, { listed: boolean; stop: AbortController }>()
  const waiting = new Map<string, Map<string, GatewaySyncRecord>>()
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
        // The watch that ends here may not have told yet that a pod has gone.
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
    if (watched.size + fresh.length > mostNamespaces) watchEverything()
    else fresh.forEach(watchNamespace)
  }

  return {
    upsertSync(record) {
      const { namespace, name } = record
      if (isListed(namespace)) return store.upsertSync(record)
      const records = waiting.get(namespace) ?? new Map<string, GatewaySyncRecord>()
      waiting.set(namespace, records.set(name, record))
      begin()
    },
    upsertOther(namespace, name) {
      waiting.get(namespace)?.delete(name)
      store.upsertOther(namespace, name)
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
