/**
 * What git hosts said last about each ref of each repository, whoever asked: a hundred GatewaySyncs of one repository ask as often as the
 * most impatient of them, and all hear what one is told.
 */
import type { Fault } from '../fault.ts'
import { isNews, type LastLookup, type SharedLookup } from '../gatewaysync/decide/lookup.ts'
import type { ResolvedCommit } from './resolved-commit.ts'
import type { SyncKey } from './store.ts'

/** `resolved` or `fault`, and when the question began and was answered, monotonic. */
export type SharedAnswer = { startedMs: number; atMs: number; failures: number } & (
  { kind: 'resolved'; resolved: ResolvedCommit } | { kind: 'fault'; fault: Fault }
)

export type SharedAnswers = {
  /** A GatewaySync follows what is said about a place from now on. */
  follow(key: SyncKey, place: string): void
  forget(key: SyncKey): void
  of(place: string): SharedAnswer | undefined
  /** Takes an answer, and returns those for whom it is news. `isChanged`: something else was asked than before, so failures begin anew. */
  add(
    place: string,
    answer: Pick<SharedAnswer, 'startedMs' | 'atMs'> & ({ kind: 'resolved'; resolved: ResolvedCommit } | { kind: 'fault'; fault: Fault }),
    last: (key: SyncKey) => LastLookup | undefined,
    isChanged: boolean,
  ): SyncKey[]
}

export function createSharedAnswers(): SharedAnswers {
  const places = new Map<string, { answer: SharedAnswer | undefined; followers: Set<SyncKey> }>()
  const placeOfKey = new Map<SyncKey, string>()
  const forget = (key: SyncKey): void => {
    const name = placeOfKey.get(key)
    if (name === undefined) return
    placeOfKey.delete(key)
    const place = places.get(name)
    place?.followers.delete(key)
    if (place?.followers.size === 0) places.delete(name)
  }
  return {
    follow(key, name) {
      if (placeOfKey.get(key) === name) return
      forget(key)
      placeOfKey.set(key, name)
      const place = places.get(name)
      if (place === undefined) places.set(name, { answer: undefined, followers: new Set([key]) })
      else place.followers.add(key)
    },
    forget,
    of: (name) => places.get(name)?.answer,
    add(name, answer, last, isChanged) {
      const place = places.get(name)
      if (place === undefined) return []
      const before = isChanged ? undefined : place.answer
      // Those who share one question are told the same at the same time: that is one failure.
      const isAnother = before === undefined || answer.startedMs >= before.atMs
      const failures = answer.kind === 'resolved' ? 0 : isAnother ? (before?.failures ?? 0) + 1 : Math.max(before?.failures ?? 1, 1)
      const next: SharedAnswer = { ...answer, failures }
      place.answer = next
      return [...place.followers].filter((key) => {
        const known = last(key)
        return known !== undefined && known.atMs < next.atMs && isNews(sharedLookup(next), known)
      })
    },
  }
}

/** The part of an answer that decides when to ask again. */
export function sharedLookup(answer: SharedAnswer): SharedLookup {
  const { atMs, failures } = answer
  return answer.kind === 'resolved'
    ? { atMs, failures, told: answer.resolved.commit, fault: undefined }
    : { atMs, failures, told: answer.fault.reason, fault: answer.fault }
}
