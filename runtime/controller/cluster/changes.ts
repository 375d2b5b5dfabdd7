/**
 * Publishes to subscribers which GatewaySyncs an observation may concern.
 */
import type { ChangeKind } from '../../reconcile/store.ts'
import type { SyncKey } from '../../reconcile/records.ts'

/** Called with a GatewaySync that may have to be looked at, and why. */
export type ChangeListener = (key: SyncKey, kind: ChangeKind) => void

/** From the store to the leader's queue. */
export type Changes = {
  publish: ChangeListener
  /** Calls `listener` with each change from now on; returns a function that stops it. */
  subscribe(listener: ChangeListener): () => void
}

/** Listeners are called in the order in which they subscribed, and must not throw. */
export function createChanges(): Changes {
  const listeners = new Set<ChangeListener>()
  return {
    publish(key, kind) {
      for (const listener of listeners) listener(key, kind)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
