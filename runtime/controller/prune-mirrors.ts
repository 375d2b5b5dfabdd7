/**
 * Removes mirrors of repositories that no GatewaySync names any more; each replica has its own mirrors.
 */
import { type Clock, pause } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import type { Store } from '../reconcile/store.ts'
import type { GatewaySyncRecord } from '../reconcile/records.ts'
import type { NamedSync, SyncMirrors } from '../reconcile/mirrors-of-syncs.ts'
import { specOf } from '../reconcile/spec-of.ts'

/** Time between two clean-ups, long enough for a GatewaySync that a tool deletes and creates again. */
const everyMs = 600_000

type Deps = { store: Pick<Store, 'syncs'>; mirrors: Pick<SyncMirrors, 'prune'>; clock: Clock; log: Log }

/** Runs until the signal. To be called when all GatewaySyncs have been listed. */
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

/** The repositories that a GatewaySync names. One whose spec is invalid now keeps that of its published commit. */
function namedBy(record: GatewaySyncRecord): NamedSync[] {
  const repo = (record.spec as { git?: { repo?: unknown } } | undefined)?.git?.repo
  return typeof repo === 'string' ? [{ namespace: record.namespace, repo, git: specOf(record)?.git }] : []
}
