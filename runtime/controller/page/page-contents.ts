/**
 * Reads the details of a commit or gateway for the status page, because the store keeps only what decisions need.
 */
import * as v from 'valibot'
import { type Clock, deadline } from '../../platform/clock.ts'
import { type SyncReportStatus, syncReportStatus } from '../../api/schema/report.ts'
import type { Kube } from '../../kube/client.ts'
import { syncReportType } from '../../kube/types.ts'
import { createCommitContents } from '../../reconcile/source/commit-contents.ts'
import type { SyncMirrors, SyncOfMirror } from '../../reconcile/source/mirrors-of-syncs.ts'
import type { Store } from '../../reconcile/store/store.ts'
import type { Commits } from '../../statuspage/views/commits.ts'
import type { ReadReport } from '../../statuspage/routes/sync-routes.ts'
import type { SyncName } from '../../statuspage/views/page-auth.ts'
import { Fault } from '../../platform/fault.ts'
import { specOf } from '../../api/schema/spec-of.ts'

/** A report is read again when the watch has delivered a newer one, and after at most this time. */
const reportMs = 30_000
/** Concurrent reads, and the deadline of one; further viewers see the cached report. */
const [maxReads, readMs] = [4, 3_000]

/** Messages and changes of the commits of GatewaySyncs in the store. */
export function commitsOfStore({
  store,
  mirrors,
  clock,
}: {
  store: Pick<Store, 'sync'>
  mirrors: Pick<SyncMirrors, 'serving'>
  clock: Clock
}): Commits {
  const contents = createCommitContents({ mirrors, clock })
  const found = ({ namespace, name }: SyncName): SyncOfMirror | undefined => {
    const record = store.sync(namespace, name)
    const spec = specOf(record)
    return spec === undefined ? undefined : { namespace, name, spec }
  }
  return {
    async summary(key, commit, signal) {
      const sync = found(key)
      return sync === undefined ? undefined : await contents.summary(sync, commit, signal)
    },
    async changes(key, pair, signal) {
      const sync = found(key)
      if (sync === undefined) throw new Fault('InvalidConfiguration', 'the spec of the GatewaySync is not accepted')
      return await contents.changes(sync, pair, signal)
    },
  }
}

/** Makes one bounded read of a SyncReport, shared by all viewers of its gateway. */
export function createReportReader({ kube, clock }: { kube: Pick<Kube, 'listPages'>; clock: Pick<Clock, 'monotonicMs'> }): ReadReport {
  const known = new WeakMap<object, { atMs: number; report: Promise<SyncReportStatus | undefined> }>()
  let reads = 0
  const read = async (namespace: string, pod: string, signal: AbortSignal): Promise<SyncReportStatus | undefined> => {
    reads += 1
    try {
      for await (const { items } of kube.listPages(
        syncReportType,
        { namespace, fieldSelector: `metadata.name=${pod}`, limit: 1 },
        signal,
      )) {
        const parsed = v.safeParse(syncReportStatus, items[0]?.status)
        if (parsed.success) return parsed.output
      }
      return undefined
    } catch {
      return undefined
    } finally {
      reads -= 1
    }
  }
  return async (record, signal) => {
    const before = known.get(record)
    if (before !== undefined && clock.monotonicMs() - before.atMs < reportMs) return await before.report
    if (reads >= maxReads) return undefined
    const report = read(record.namespace, record.pod, deadline(readMs, signal))
    known.set(record, { atMs: clock.monotonicMs(), report })
    return await report
  }
}
