/**
 * Removes mirrors of repositories that no GatewaySync names anymore; each replica has its own mirrors.
 */
import { type Clock, pause } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import type { Store } from '../reconcile/store/store.ts'
import type { GatewaySyncRecord } from '../reconcile/store/records.ts'
import type { NamedSync, SyncMirrors } from '../reconcile/source/mirrors-of-syncs.ts'
import { specOf } from '../api/schema/spec-of.ts'

/** Cleanup interval, long enough for a GatewaySync that a tool deletes and creates again. */
const everyMs = 600_000

type Deps = { store: Pick<Store, 'syncs'>; mirrors: Pick<SyncMirrors, 'prune'>; clock: Clock; log: Log }

/** Runs until `signal` aborts. Call when all GatewaySyncs have been listed. */
export async function pruneMirrors({ store, mirrors, clock, log }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await mirrors.prune(store.syncs().flatMap(namedBy), signal)
    } catch (error) {
      const { reason, message } = asFault(error)
      log.warn({ reason, message }, 'unused mirrors were not removed')
    }
    await pause(clock, everyMs, signal)
  }
}

/** The repositories that a GatewaySync names. An invalid spec keeps the one of its published commit. */
function namedBy(record: GatewaySyncRecord): NamedSync[] {
  const git = specOf(record)?.git
  // An invalid spec has no source, but names the repository.
  const repo = git?.repo ?? (record.spec as { git?: { repo?: unknown } } | undefined)?.git?.repo ?? record.status.published?.repo
  return typeof repo === 'string' ? [{ namespace: record.namespace, repo, git }] : []
}
