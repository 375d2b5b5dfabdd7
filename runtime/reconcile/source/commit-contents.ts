/**
 * Reads the message and the changes of commits from the mirrors on request, within bounds, and caches them because commits never change.
 */
import { type Clock, deadline, unlessAborted } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { coveragesOf } from '../../validation/run/coverage.ts'
import { type ResolvedProfile, resolveProfile } from '../../api/schema/profile.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { isWithin, parseCommitHash, parseRelativePath } from '../../api/values.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { readRepository } from '../../git/remote/remote.ts'
import { type CommitDiff, type DiffedPart, diffCommits } from '../../git/content/commit-diff.ts'
import { type CommitSummary, parseCommitSummary } from '../../git/content/commit-summary.ts'
import { lineDiff } from '../../sync/plan/shown-diff.ts'
import { maskSecrets } from '../../sync/plan/mask.ts'
import type { FileDiff } from '../../sync/plan/preview.ts'
import type { SyncMirrors, SyncOfMirror } from './mirrors-of-syncs.ts'

/** `total`: number of changed files; `files`: the first of them, with lines if they may be shown. */
export type CommitChanges = { total: number; files: FileDiff[] }

/** `sync` is a GatewaySync with these commits in its history. */
export type CommitContents = {
  /** Undefined for a commit that cannot be read now. Rejects only with the signal's reason. */
  summary(sync: SyncOfMirror, commit: string, signal: AbortSignal): Promise<CommitSummary | undefined>
  /**
   * Returns the changes in `commit` to what gateways receive, without secrets. Throws CommitGone, GitTimeout, TooManyRequests and the
   * faults of git.
   */
  changes(sync: SyncOfMirror, pair: { from: string; commit: string }, signal: AbortSignal): Promise<CommitChanges>
}

/** What a page shows: a typical change in full, a large one truncated. */
const bounds = { named: 500, files: 60, fileBytes: 96 * 1024, totalBytes: 768 * 1024 } as const
/** Maximum characters of one file and of all files. */
const [maxFileText, maxText] = [8 * 1024, 96 * 1024]
const defaultTimeoutMs = 10_000
/** A commit that could not be read is retried after this. */
const againAfterMs = 600_000
/** About 150 bytes each; changes have at most `maxText` characters and paths. */
const [keptSummaries, keptChanges] = [2_000, 12]
/** Concurrent reads, one per host of a namespace; each is a git process. Requests beyond that wait in a queue per namespace. */
const slots = { total: 2, reserve: 1, perKey: 1 } as const
const [maxWaitingSummaries, maxWaitingChanges] = [64, 7]

/** `timeoutMs` is the deadline of one request, including the fetch of a missing commit. */
type Options = { mirrors: Pick<SyncMirrors, 'serving'>; clock: Clock; timeoutMs?: number }

export function createCommitContents({ mirrors, clock, timeoutMs = defaultTimeoutMs }: Options): CommitContents {
  const summaries = new FairCache<Promise<CommitSummary | undefined>>({ max: keptSummaries })
  const missed = new FairCache<true>({ max: keptSummaries, ttlMs: againAfterMs, clock })
  const changes = new FairCache<Promise<CommitChanges>>({ max: keptChanges })
  const summaryLimiter = new FairLimiter({ ...slots, waitMs: timeoutMs, maxWaiting: maxWaitingSummaries, clock })
  const changesLimiter = new FairLimiter({ ...slots, waitMs: timeoutMs, maxWaiting: maxWaitingChanges, clock })
  const readSummary = async (sync: SyncOfMirror, hash: string): Promise<CommitSummary | undefined> => {
    const [commit, limit] = [parseCommitHash(hash), deadline(timeoutMs)]
    const mirror = await mirrors.serving(sync, limit)
    await mirror.ensure(commit, limit)
    return parseCommitSummary(await mirror.rawObject('commit', commit, commit, limit))
  }
  const readChanges = async (sync: SyncOfMirror, pair: { from: string; commit: string }): Promise<CommitChanges> => {
    const [from, commit, limit] = [parseCommitHash(pair.from), parseCommitHash(pair.commit), deadline(timeoutMs)]
    const mirror = await mirrors.serving(sync, limit)
    await mirror.ensure(from, limit)
    await mirror.ensure(commit, limit)
    const part = { from, commit, ...partOf(sync.spec) }
    return shown(await mirror.readBy(commit, (repository) => diffCommits(repository, part, bounds, limit), limit))
  }
  return {
    async summary(sync, commit, signal) {
      // Another GatewaySync may have other credentials, or another repository with this commit.
      const key = JSON.stringify([sync.namespace, sync.name, sync.spec.git.repo, commit])
      if (missed.get(key) === true) return undefined
      const found = summaries.get(key) ?? inTurn(summaryLimiter, sync, () => readSummary(sync, commit))
      summaries.set(sync.namespace, key, found)
      try {
        return await unlessAborted(found, signal)
      } catch (error) {
        signal.throwIfAborted()
        summaries.delete(key)
        if (asFault(error).reason !== 'TooManyRequests') missed.set(sync.namespace, key, true)
        return undefined
      }
    },
    async changes(sync, pair, signal) {
      const key = JSON.stringify([sync.namespace, sync.name, sync.spec.git.repo, partOf(sync.spec).key, pair.from, pair.commit])
      const found = changes.get(key) ?? inTurn(changesLimiter, sync, () => readChanges(sync, pair))
      changes.set(sync.namespace, key, found)
      try {
        return await unlessAborted(found, signal)
      } catch (error) {
        signal.throwIfAborted()
        changes.delete(key)
        throw error
      }
    },
  }
}

/** Throws TooManyRequests, and what `work` throws. */
async function inTurn<Value>(limiter: FairLimiter, { namespace, spec }: SyncOfMirror, work: () => Promise<Value>): Promise<Value> {
  const host = readRepository(spec.git.repo, { allowLocal: true })?.host ?? ''
  const slot = await limiter.acquire({ tenant: namespace, key: host })
  if (slot === undefined)
    throw new Fault('TooManyRequests', `too many commits of namespace "${namespace}" are being read; try again in a moment`)
  try {
    return await work()
  } finally {
    slot.release()
  }
}

/**
 * Only the parts of a repository that profiles deliver to gateways are shown. Sources with a template in their path are left out: only
 * agents can expand it.
 */
function partOf({ sync }: GatewaySyncSpec): DiffedPart & { key: string } {
  const profiles = Object.keys(sync.profiles)
    .map((name) => resolveProfile(sync, name))
    .map((profile) => ({ ...profile, mappings: profile.mappings.filter(isKnown) }))
  const all = [...new Set(profiles.flatMap(sourceRoots))].toSorted()
  const coverages = coveragesOf(profiles)
  return {
    key: coverages.map(({ key }) => key).join('\n'),
    roots: all.filter((root) => !all.some((other) => other !== root && isWithin(root, other))),
    takes: (path) => coverages.some(({ delivered }) => delivered(path)),
  }
}

function isKnown(mapping: ResolvedProfile['mappings'][number]): boolean {
  const [root] = sourceRoots({ collections: undefined, mappings: [mapping] })
  return root === parseRelativePath(mapping.source)
}

/** Hides secrets and truncates to what a page holds. */
function shown({ total, files }: CommitDiff): CommitChanges {
  let characters = 0
  const empty = new Uint8Array()
  return {
    total,
    files: files.map(({ op, path, before, after, isRead }) => {
      const sides = isRead && characters < maxText ? maskSecrets(before, after ?? empty) : undefined
      const lines = sides === undefined ? undefined : lineDiff(sides.before, sides.after)
      if (lines === undefined || lines === '') return { op, path }
      const text = lines.length > maxFileText ? `${lines.slice(0, lines.lastIndexOf('\n', maxFileText))}\n…` : lines
      characters += text.length
      return { op, path, diff: text }
    }),
  }
}
