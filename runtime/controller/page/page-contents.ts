/**
 * What the status page reads when somebody looks at a commit or a gateway, because the store keeps only what decisions need.
 */
import * as v from 'valibot'
import { type Clock, deadline } from '../../clock.ts'
import { type SyncReportStatus, syncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { Kube } from '../../kube/client.ts'
import { syncReportType } from '../../kube/types.ts'
import { createCommitContents } from '../../reconcile/commit-contents.ts'
import type { SyncMirrors, SyncOfMirror } from '../../reconcile/mirrors-of-syncs.ts'
import type { Store } from '../../reconcile/store.ts'
import type { Commits } from '../../statuspage/commits.ts'
import type { ReadReport } from '../../statuspage/sync-routes.ts'
import type { SyncKey } from '../../statuspage/people.ts'
import { Fault } from '../../fault.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** A report is read again when the watch has told of another one, and at the latest after this. */
const reportMs = 30_000
/** Reads under way at once, and how long one may take; whoever comes then sees what is kept. */
const [maxReads, readMs] = [4, 3_000]

/** Words and changes of the commits of GatewaySyncs that the store holds. */
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
  const found = ({ namespace, name }: SyncKey): SyncOfMirror | undefined => {
    const record = store.sync(namespace, name)
    const spec = record === undefined ? undefined : specOf(record)
    return spec === undefined ? undefined : { namespace, name, spec }
  }
  return {
    async words(key, commit, signal) {
      const sync = found(key)
      return sync === undefined ? undefined : await contents.words(sync, commit, signal)
    },
    async changes(key, pair, signal) {
      const sync = found(key)
      if (sync === undefined) throw new Fault('InvalidConfiguration', 'the spec of the GatewaySync is not accepted')
      return await contents.changes(sync, pair, signal)
    },
  }
}

/** One bounded read of a SyncReport, shared by all who look at its gateway. */
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
