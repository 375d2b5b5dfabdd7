/**
 * Frees the disk of repositories that no GatewaySync names any more; each replica has mirrors of its own.
 */
import { type Clock, pause } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import type { GatewaySyncRecord, Store } from '../reconcile/store.ts'
import type { NamedSync, SyncMirrors } from '../reconcile/mirrors-of-syncs.ts'
import { specOf } from './spec-of.ts'

/** A GatewaySync that is replaced, as some tools do, is soon back. */
const everyMs = 600_000

type Deps = { store: Pick<Store, 'syncs'>; mirrors: Pick<SyncMirrors, 'prune'>; clock: Clock; log: Log }

/** Runs until the signal; call it once all GatewaySyncs have been listed. */
export async function pruneMirrors({ store, mirrors, clock, log }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await mirrors.prune(store.syncs().flatMap(namedBy), signal)
    } catch (error) {
      const { reason, message } = asFault(error)
      log.warn({ reason, message }, 'mirrors that nobody names were not removed')
    }
    await pause(clock, everyMs, signal)
  }
}

/** Also of a spec that is invalid now: what it published before stays in force. */
function namedBy(record: GatewaySyncRecord): NamedSync[] {
  const repo = (record.spec as { git?: { repo?: unknown } } | undefined)?.git?.repo
  return typeof repo === 'string' ? [{ namespace: record.namespace, repo, git: specOf(record)?.git }] : []
}
