/**
 * Shares the latest answers of git hosts per ref, repository and credentials (the sharing key): a hundred GatewaySyncs of one repository
 * query as often as the one with the shortest interval, and all receive each response.
 */
import type { Fault, Reason } from '../../platform/fault.ts'
import { isNewAnswer, type LastResolution, type ResolvedCommit, type SharedResolution } from '../decide/source-resolution.ts'
import type { SyncKey } from '../store/records.ts'

/** `resolved` or `fault`, and monotonic times of query and answer. */
export type HostAnswer = { startedMs: number; atMs: number } & (
  { kind: 'resolved'; resolved: ResolvedCommit } | { kind: 'fault'; fault: Fault }
)

/** `failures`: consecutive, including this one. */
export type SharedResult = HostAnswer & { failures: number }

/** Faults that the host caused, so every GatewaySync would get them. Others may be caused by the namespace of the query, such as its share of memory. */
const faultsOfHosts: ReadonlySet<Reason> = new Set<Reason>([
  'RefNotFound',
  'PushNotVisible',
  'AmbiguousRef',
  'CommitNotServed',
  'RepositoryMoved',
  'RepositoryRefused',
  'RepositoryNotOwned',
  'RepositoryNotFound',
  'RepositoryTooLarge',
  'GitUnauthorized',
  'GitForbidden',
  'GitKeyRefused',
  'GitHostKeyUnknown',
  'GitHostKeyChanged',
  'GitTlsUntrusted',
  'GitHostUnknown',
  'GitConnectionRefused',
  'GitProxyRefused',
  'GitObjectMissing',
  'GitUnreachable',
])

/** The results of one leader. */
export type SharedResults = {
  /** Subscribes a GatewaySync to this sharing key only. */
  follow(key: SyncKey, sharingKey: string): void
  forget(key: SyncKey): void
  /** The latest result that concerns a GatewaySync. */
  of(sharingKey: string, key: SyncKey): SharedResult | undefined
  /**
   * Adds an answer that a GatewaySync got, and returns those for which it is new. A fault that the host did not cause only concerns the same
   * namespace. `isChanged`: the spec changed, so failures are counted from 0.
   */
  add(
    sharingKey: string,
    by: SyncKey,
    result: HostAnswer,
    how: { last: (key: SyncKey) => LastResolution | undefined; isChanged: boolean },
  ): SyncKey[]
}

/** `faults`: by namespace, those that its own work caused since the last answer of the host. */
type Entry = { result: SharedResult | undefined; faults: Map<string, SharedResult>; followers: Set<SyncKey> }

/** Keeps the results for each sharing key that a GatewaySync follows. */
export function createSharedResults(): SharedResults {
  const shared = new Map<string, Entry>()
  const followed = new Map<SyncKey, string>()
  const forget = (key: SyncKey): void => {
    const sharingKey = followed.get(key)
    if (sharingKey === undefined) return
    followed.delete(key)
    const entry = shared.get(sharingKey)
    entry?.followers.delete(key)
    if (entry?.followers.size === 0) shared.delete(sharingKey)
  }
  const of = (entry: Entry | undefined, key: SyncKey): SharedResult | undefined => entry?.faults.get(namespaceOf(key)) ?? entry?.result
  return {
    follow(key, sharingKey) {
      if (followed.get(key) === sharingKey) return
      forget(key)
      followed.set(key, sharingKey)
      const entry = shared.get(sharingKey)
      if (entry === undefined) shared.set(sharingKey, { result: undefined, faults: new Map(), followers: new Set([key]) })
      else entry.followers.add(key)
    },
    forget,
    of: (sharingKey, key) => of(shared.get(sharingKey), key),
    add(sharingKey, by, result, { last, isChanged }) {
      const entry = shared.get(sharingKey)
      if (entry === undefined) return []
      const isOwn = result.kind === 'fault' && !faultsOfHosts.has(result.fault.reason)
      const before = isChanged ? undefined : isOwn ? of(entry, by) : entry.result
      // Resolutions that share one query fail together, which counts as one failure.
      const isAnother = before === undefined || result.startedMs >= before.atMs
      const failures = result.kind === 'resolved' ? 0 : isAnother ? (before?.failures ?? 0) + 1 : Math.max(before?.failures ?? 1, 1)
      const next: SharedResult = { ...result, failures }
      if (isOwn) entry.faults.set(namespaceOf(by), next)
      else {
        entry.result = next
        entry.faults.clear()
      }
      return [...entry.followers].filter((key) => {
        if (isOwn && namespaceOf(key) !== namespaceOf(by)) return false
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

function namespaceOf(key: SyncKey): string {
  return key.slice(0, key.indexOf('/'))
}
