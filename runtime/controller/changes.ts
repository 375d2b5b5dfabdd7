/**
 * Tells whoever wants to hear it which GatewaySyncs an observation may concern.
 */
import type { ChangeKind, SyncKey } from '../reconcile/store.ts'

export type ChangeListener = (key: SyncKey, kind: ChangeKind) => void

export type Changes = {
  publish: ChangeListener
  /** Calls back with each change from now on; returns how to stop that. */
  subscribe(listener: ChangeListener): () => void
}

/** Listeners are called in the order in which they came, and must not throw. */
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
