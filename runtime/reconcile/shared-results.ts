/**
 * The latest answers of git hosts about each ref of each repository: a hundred GatewaySyncs of one repository ask as often as the one with the
 * shortest interval, and all learn each answer. A sharing key names ref, repository and credentials.
 */
import type { Fault } from '../fault.ts'
import { isNews, type LastLookup, type SharedLookup } from '../gatewaysync/decide/lookup.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import type { SyncKey } from './records.ts'

/** `resolved` or `fault`, and when the git host was asked and answered, monotonic. */
export type HostAnswer = { startedMs: number; atMs: number } & (
  { kind: 'resolved'; resolved: ResolvedCommit } | { kind: 'fault'; fault: Fault }
)

/** `failures`: in a row, this one included. */
export type SharedResult = HostAnswer & { failures: number }

/** The results of one leader. */
export type SharedResults = {
  /** From now on a GatewaySync learns the answers for this sharing key, and for no other. */
  follow(key: SyncKey, sharingKey: string): void
  forget(key: SyncKey): void
  of(sharingKey: string): SharedResult | undefined
  /** Adds an answer, and returns the GatewaySyncs for which it is new. `isChanged`: the spec changed, so failures are counted from 0. */
  add(sharingKey: string, result: HostAnswer, last: (key: SyncKey) => LastLookup | undefined, isChanged: boolean): SyncKey[]
}

/** Holds one result for each sharing key that a GatewaySync follows. */
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
      // Lookups that share one question to the host fail together, which counts as one failure.
      const isAnother = before === undefined || result.startedMs >= before.atMs
      const failures = result.kind === 'resolved' ? 0 : isAnother ? (before?.failures ?? 0) + 1 : Math.max(before?.failures ?? 1, 1)
      const next: SharedResult = { ...result, failures }
      entry.result = next
      return [...entry.followers].filter((key) => {
        const known = last(key)
        return known !== undefined && known.atMs < next.atMs && isNews(sharedLookup(next), known)
      })
    },
  }
}

/** The part of a result that decides when to look up again. */
export function sharedLookup(result: SharedResult): SharedLookup {
  const { atMs, failures } = result
  return result.kind === 'resolved'
    ? { atMs, failures, hostAnswer: result.resolved.commit, fault: undefined }
    : { atMs, failures, hostAnswer: result.fault.reason, fault: result.fault }
}
