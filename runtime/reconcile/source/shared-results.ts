/**
 * Shares the latest answers of git hosts per ref, repository and credentials (the sharing key): a hundred GatewaySyncs of one repository
 * query as often as the one with the shortest interval, and all learn each answer.
 */
import type { Fault } from '../../platform/fault.ts'
import { isNewAnswer, type LastResolution, type ResolvedCommit, type SharedResolution } from '../decide/source-resolution.ts'
import type { SyncKey } from '../store/records.ts'

/** `resolved` or `fault`, and monotonic times of query and answer. */
export type HostAnswer = { startedMs: number; atMs: number } & (
  { kind: 'resolved'; resolved: ResolvedCommit } | { kind: 'fault'; fault: Fault }
)

/** `failures`: consecutive, including this one. */
export type SharedResult = HostAnswer & { failures: number }

/** The results of one leader. */
export type SharedResults = {
  /** Subscribes a GatewaySync to this sharing key only. */
  follow(key: SyncKey, sharingKey: string): void
  forget(key: SyncKey): void
  of(sharingKey: string): SharedResult | undefined
  /** Adds an answer, and returns the GatewaySyncs for which it is new. `isChanged`: the spec changed, so failures are counted from 0. */
  add(sharingKey: string, result: HostAnswer, last: (key: SyncKey) => LastResolution | undefined, isChanged: boolean): SyncKey[]
}

/** Keeps one result for each sharing key that a GatewaySync follows. */
export function createSharedResults(): SharedResults {
  const shared = new Map<string, { result: SharedResult | undefined; followers: Set<SyncKey> }>()
  const followed = new Map<SyncKey, string>()
  const forget = (key: SyncKey): void => {
    const sharingKey = followed.get(key)
    if (sharingKey === undefined) return
    followed.delete(key)
    const entry = shared.get(sharingKey)
    entry?.followers.delete(key)
    if (entry?.followers.size === 0) shared.delete(sharingKey)
  }
  return {
    follow(key, sharingKey) {
      if (followed.get(key) === sharingKey) return
      forget(key)
      followed.set(key, sharingKey)
      const entry = shared.get(sharingKey)
      if (entry === undefined) shared.set(sharingKey, { result: undefined, followers: new Set([key]) })
      else entry.followers.add(key)
    },
    forget,
    of: (sharingKey) => shared.get(sharingKey)?.result,
    add(sharingKey, result, last, isChanged) {
      const entry = shared.get(sharingKey)
      if (entry === undefined) return []
      const before = isChanged ? undefined : entry.result
      // Resolutions that share one query fail together, which counts as one failure.
      const isAnother = before === undefined || result.startedMs >= before.atMs
      const failures = result.kind === 'resolved' ? 0 : isAnother ? (before?.failures ?? 0) + 1 : Math.max(before?.failures ?? 1, 1)
      const next: SharedResult = { ...result, failures }
      entry.result = next
      return [...entry.followers].filter((key) => {
        const known = last(key)
        return known !== undefined && known.atMs < next.atMs && isNewAnswer(sharedResolution(next), known)
      })
    },
  }
}

/** The part of a result that decides when to resolve again. */
export function sharedResolution(result: SharedResult): SharedResolution {
  const { atMs, failures } = result
  return result.kind === 'resolved'
    ? { atMs, failures, hostAnswer: result.resolved.commit, fault: undefined }
    : { atMs, failures, hostAnswer: result.fault.reason, fault: result.fault }
}
