/**
 * What became of the changes of each gateway, of which the status does not tell yet; kept while this replica leads.
 */
import type { Clock } from '../../clock.ts'
import { ofRepository } from '../../gatewaysync/decide/capture.ts'
import { type CaptureEntry, cutToFit } from '../../gatewaysync/schema/capture-spec.ts'
import { type GatewaySyncRecord, type SyncKey, syncKey } from '../../reconcile/records.ts'
import type { Store } from '../../reconcile/store.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** By GatewaySync and pod. One that was made anew under its name, or reads another repository, has nothing of the one before. */
export type CaptureEntries = {
  /** Takes the place of what was known of the pod. `about`: of which GatewaySync it was said, as it was then. */
  note(about: GatewaySyncRecord, told: CaptureEntry): void
  /** In the order in which the commits were noted. */
  known(key: SyncKey): readonly CaptureEntry[]
  /** What the status tells of other pods, and then what is known. */
  of(key: SyncKey, record: GatewaySyncRecord): CaptureEntry[]
  /** Whether a failure of this pod is too recent to try again. */
  isResting(key: SyncKey, pod: string): boolean
  clear(): void
  /** Forgets what is of no GatewaySync any more. */
  prune(): void
}

/** A capture that failed for a passing reason is tried again after this long. */
export const failedForMs = 60_000

/** `changed`: the status of the GatewaySync has to be written. */
export function createCaptureEntries(clock: Clock, store: Pick<Store, 'sync'>, changed: (key: SyncKey) => void): CaptureEntries {
  const results = new Map<SyncKey, Known>()
  const present = (key: SyncKey): Known | undefined => {
    const known = results.get(key)
    return known !== undefined && known.subject === subjectOf(store.sync(known.namespace, known.name)) ? known : undefined
  }
  const known = (key: SyncKey): CaptureEntry[] => [...(present(key)?.pods.values() ?? [])].map(({ entry }) => entry)
  return {
    known,
    note(about, told) {
      const { namespace, name } = about
      const subject = subjectOf(about)
      if (subject !== subjectOf(store.sync(namespace, name))) return
      const key = syncKey(namespace, name)
      const entry = cutToFit(told)
      const own: Known = present(key) ?? { namespace, name, subject, pods: new Map() }
      results.set(key, own)
      if (own.pods.get(entry.pod)?.entry.commit !== entry.commit) own.pods.delete(entry.pod)
      own.pods.set(entry.pod, { entry, untilMs: entry.state === 'Failed' ? clock.monotonicMs() + failedForMs : Infinity })
      changed(key)
    },
    of(key, record) {
      const fresh = known(key)
      const pods = new Set(fresh.map(({ pod }) => pod))
      const told = ofRepository(record.status.capture, specOf(record)?.git.repo)
      return [...(told?.gateways ?? []).filter(({ pod }) => !pods.has(pod)), ...fresh]
    },
    isResting: (key, pod) => (present(key)?.pods.get(pod)?.untilMs ?? 0) > clock.monotonicMs(),
    clear: () => results.clear(),
    prune() {
      for (const key of results.keys()) if (present(key) === undefined) results.delete(key)
    },
  }
}

/** What is known of one GatewaySync. `untilMs`: until then a failure is not tried again. */
type Known = { namespace: string; name: string; subject: string | undefined; pods: Map<string, { entry: CaptureEntry; untilMs: number }> }

/** Tells a GatewaySync from a later one of its name, and from itself with another repository. */
function subjectOf(record: GatewaySyncRecord | undefined): string | undefined {
  return record === undefined ? undefined : `${record.uid} ${specOf(record)?.git.repo ?? ''}`
}
