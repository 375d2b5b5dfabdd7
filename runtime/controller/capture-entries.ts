/**
 * What became of the changes of each gateway, of which the status does not tell yet; kept while this replica leads.
 */
import type { Clock } from '../clock.ts'
import { type CaptureEntry, cutToFit } from '../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncRecord, SyncKey } from '../reconcile/records.ts'

/** By GatewaySync and pod. */
export type CaptureEntries = {
  /** Takes the place of what was known of the pod. */
  note(key: SyncKey, told: CaptureEntry): void
  known(key: SyncKey): readonly CaptureEntry[]
  /** What is known, and what the status tells of other pods. */
  of(key: SyncKey, record: GatewaySyncRecord): CaptureEntry[]
  /** Whether a failure of this pod is too recent to try again. */
  isResting(key: SyncKey, pod: string): boolean
  clear(): void
  /** Forgets the GatewaySyncs of which `isGone` tells. */
  prune(isGone: (key: SyncKey) => boolean): void
}

/** A capture that failed for a passing reason is tried again after this long. */
export const failedForMs = 60_000

/** `changed`: the status of the GatewaySync has to be written. */
export function createCaptureEntries(clock: Clock, changed: (key: SyncKey) => void): CaptureEntries {
  /** `untilMs`: until then a failure is not tried again. */
  const results = new Map<SyncKey, Map<string, { entry: CaptureEntry; untilMs: number }>>()
  const known = (key: SyncKey): CaptureEntry[] => [...(results.get(key)?.values() ?? [])].map(({ entry }) => entry)
  return {
    known,
    note(key, told) {
      const entry = cutToFit(told)
      const own = results.get(key) ?? new Map<string, { entry: CaptureEntry; untilMs: number }>()
      results.set(key, own)
      own.set(entry.pod, { entry, untilMs: entry.state === 'Failed' ? clock.monotonicMs() + failedForMs : Infinity })
      changed(key)
    },
    of(key, { status }) {
      const fresh = known(key)
      const pods = new Set(fresh.map(({ pod }) => pod))
      return [...fresh, ...(status.capture?.gateways ?? []).filter(({ pod }) => !pods.has(pod))]
    },
    isResting: (key, pod) => (results.get(key)?.get(pod)?.untilMs ?? 0) > clock.monotonicMs(),
    clear: () => results.clear(),
    prune(isGone) {
      for (const key of results.keys()) if (isGone(key)) results.delete(key)
    },
  }
}
