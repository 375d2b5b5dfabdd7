/**
 * What people want to know of a commit besides its hash: who made it, and what it changed. Read from the mirrors when somebody looks, of each
 * host one after the other, within bounds, and remembered, for a commit never changes.
 */
import { type Clock, deadline, unlessAborted } from '../clock.ts'
import { asFault } from '../fault.ts'
import { coveragesOf } from '../collections/gate/coverage.ts'
import { type ResolvedProfile, resolveProfile } from '../gatewaysync/decide/profile.ts'
import { sourceRoots } from '../gatewaysync/decide/source-roots.ts'
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { isWithin, parseCommitHash, parseRelativePath } from '../gatewaysync/values.ts'
import { type CommitDiff, type DiffedPart, diffCommits } from '../source/content/commit-diff.ts'
import { type CommitWords, parseCommitWords } from '../source/content/commit-words.ts'
import { lineDiff } from '../sync/plan/line-diff.ts'
import { maskSecrets } from '../sync/plan/mask.ts'
import type { FileDiff } from '../sync/plan/preview.ts'
import { createHostTurns } from './host-turns.ts'
import type { SyncMirrors, SyncOfMirror } from './mirrors-of-syncs.ts'

/** `total`: how many files differ; `files`: the first of them, with their lines where they may be shown. */
export type CommitChanges = { total: number; files: FileDiff[] }

/** Asked with the GatewaySync that has the commits in its history. */
export type CommitContents = {
  /** Undefined for a commit that cannot be read now, or says nothing of itself. Never rejects but with the signal's reason. */
  words(sync: SyncOfMirror, commit: string, signal: AbortSignal): Promise<CommitWords | undefined>
  /** What is different in `commit`, of what gateways are given, without secrets. Throws CommitGone, GitTimeout, TooManyRequests and the faults of git. */
  changes(sync: SyncOfMirror, pair: { from: string; commit: string }, signal: AbortSignal): Promise<CommitChanges>
}

/** As much as a page shows: a usual change whole, of a large one the beginning. */
const bounds = { named: 500, files: 60, fileBytes: 96 * 1024, totalBytes: 768 * 1024 } as const
/** Of one file and of all, in characters: what is kept and sent. */
const [maxFileText, maxText] = [8 * 1024, 96 * 1024]
/** The whole of one look, a fetch of a commit that this replica lacks included. */
const lookMs = 10_000
/** A commit that could not be read is tried again after this. */
const againAfterMs = 600_000
/** Some 150 bytes each, and of the changes at most `maxText` characters and paths. */
const [keptWords, keptChanges] = [2_000, 12]
/** Readings of all hosts at once, each a git process. */
const atOnce = 3
/** Of one host under way or waiting for their turn: the commits of some pages, and changes. Whoever comes then is told to try again. */
const [maxWords, maxChanges] = [64, 8]

/** `mirror` is the one that serves a GatewaySync. */
export function createCommitContents({ mirrors, clock }: { mirrors: Pick<SyncMirrors, 'serving'>; clock: Clock }): CommitContents {
  const words = new Map<string, Promise<CommitWords | undefined>>()
  const missed = new Map<string, number>()
  const changes = new Map<string, Promise<CommitChanges>>()
  const inTurn = createHostTurns({ atOnce, waitMs: lookMs })
  const readWords = async (sync: SyncOfMirror, hash: string): Promise<CommitWords | undefined> => {
    const [commit, limit] = [parseCommitHash(hash), deadline(lookMs)]
    const mirror = await mirrors.serving(sync, limit)
    await mirror.ensure(commit, limit)
    return parseCommitWords(await mirror.rawObject('commit', commit, commit, limit))
  }
  const readChanges = async (sync: SyncOfMirror, pair: { from: string; commit: string }): Promise<CommitChanges> => {
    const [from, commit, limit] = [parseCommitHash(pair.from), parseCommitHash(pair.commit), deadline(lookMs)]
    const mirror = await mirrors.serving(sync, limit)
    await mirror.ensure(from, limit)
    await mirror.ensure(commit, limit)
    const part = { from, commit, ...partOf(sync.spec) }
    return shown(await mirror.readBy(commit, (repository) => diffCommits(repository, part, bounds, limit), limit))
  }
  return {
    async words(sync, commit, signal) {
      // Another GatewaySync may have other credentials, or another repository with this commit.
      const key = JSON.stringify([sync.namespace, sync.name, sync.spec.git.repo, commit])
      const triedMs = missed.get(key)
      if (triedMs !== undefined && clock.monotonicMs() - triedMs < againAfterMs) return undefined
      const found = words.get(key) ?? inTurn({ kind: 'words', most: maxWords, repo: sync.spec.git.repo }, () => readWords(sync, commit))
      keep(words, key, found, keptWords)
      try {
        return await unlessAborted(found, signal)
      } catch (error) {
        signal.throwIfAborted()
        words.delete(key)
        if (asFault(error).reason !== 'TooManyRequests') keep(missed, key, clock.monotonicMs(), keptWords)
        return undefined
      }
    },
    async changes(sync, pair, signal) {
      const key = JSON.stringify([sync.namespace, sync.name, sync.spec.git.repo, partOf(sync.spec).key, pair.from, pair.commit])
      const reading = { kind: 'changes', most: maxChanges, repo: sync.spec.git.repo }
      const found = changes.get(key) ?? inTurn(reading, () => readChanges(sync, pair))
      keep(changes, key, found, keptChanges)
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

/**
 * What the profiles are known to give to gateways: nothing else of a repository is shown to those who look. What a source with a template in
 * its path stands for is known to agents alone.
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

/** With its secrets hidden, and cut to what a page holds. */
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

function keep<Value>(kept: Map<string, Value>, key: string, value: Value, most: number): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}
