/**
 * Limits pod watches to namespaces with a GatewaySync, because a cluster has many more pods. Each namespace needs a watch and so a
 * connection; with many namespaces one cluster-wide watch costs less.
 */
import type { Store } from '../../reconcile/store/store.ts'
import { type BoundedObjects, syncsOfNamespace } from '../../reconcile/store/namespace.ts'
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

/** A watch takes about 170 KiB. */
const defaultMaxNamespaces = 32

/** Receives the GatewaySyncs of a scope from their watch. */
export class PodScopes {
  readonly #deps: Deps
  readonly #signal: AbortSignal
  /** Watched namespaces, and whether their pods have been listed. They stay watched, because a deleted GatewaySync may return. */
  readonly #watched = new Map<string, { listed: boolean; stop: AbortController }>()
  readonly #waiting = new Map<string, BoundedObjects<GatewaySyncRecord>>()
  #syncsListed = false
  #everything: 'no' | 'listing' | 'listed' = 'no'

  /** `signal` ends every watch. */
  constructor(deps: Deps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** Passes a GatewaySync to the store once the pods of its namespace have been listed: until then it would seem to have none. */
  upsertSync(record: GatewaySyncRecord): boolean {
    const { namespace, name } = record
    if (this.#isListed(namespace)) return this.#deps.store.upsertSync(record)
    const records = this.#waiting.get(namespace) ?? syncsOfNamespace()
    this.#waiting.set(namespace, records)
    // All of a namespace may wait at a start, so they are bounded here as they are in the store.
    const isKept = records.set(name, withinShare(record, records.beside(name)))
    this.#watchWaiting()
    return isKept
  }

  /** A GatewaySync of another installation; its pods are not watched. */
  upsertOther(namespace: string, name: string): boolean {
    this.#waiting.get(namespace)?.delete(name)
    return this.#deps.store.upsertOther(namespace, name)
  }

  removeSync(namespace: string, name: string): void {
    this.#waiting.get(namespace)?.delete(name)
    this.#deps.store.removeSync(namespace, name)
  }

  /** All GatewaySyncs have been listed, so the number of namespaces is known. */
  syncsListed(): void {
    this.#syncsListed = true
    this.#watchWaiting()
  }

  #isListed(namespace: string): boolean {
    return this.#everything === 'listed' || this.#watched.get(namespace)?.listed === true
  }

  #watchWaiting(): void {
    if (!this.#syncsListed || this.#everything !== 'no') return
    const { maxNamespaces = defaultMaxNamespaces } = this.#deps
    const fresh = [...this.#waiting.keys()].filter((namespace) => !this.#watched.has(namespace))
    if (this.#watched.size + fresh.length > maxNamespaces) this.#watchEverything()
    else for (const namespace of fresh) this.#watchNamespace(namespace)
  }

  #watchNamespace(namespace: string): void {
    const entry = { listed: false, stop: new AbortController() }
    this.#watched.set(namespace, entry)
    const listed = (): void => {
      entry.listed = true
      this.#storeWaiting(namespace)
    }
    this.#deps.watch(namespace, listed, AbortSignal.any([this.#signal, entry.stop.signal]))
  }

  #watchEverything(): void {
    this.#everything = 'listing'
    const { store, watch } = this.#deps
    const listed: PodsListed = (isThere) => {
      this.#everything = 'listed'
      for (const [namespace, { stop }] of this.#watched) {
        stop.abort(new Error('everything is watched'))
        // The watch that ends here may not have reported a deletion yet.
        for (const pod of store.podsIn(namespace)) if (!isThere(pod)) store.removePod(namespace, pod.name)
      }
      this.#watched.clear()
      for (const namespace of this.#waiting.keys()) this.#storeWaiting(namespace)
    }
    watch(undefined, listed, this.#signal)
  }

  #storeWaiting(namespace: string): void {
    const records = this.#waiting.get(namespace)
    this.#waiting.delete(namespace)
    for (const record of records?.values() ?? []) this.#deps.store.upsertSync(record)
  }
}
