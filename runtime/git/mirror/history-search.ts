/**
 * Finds a commit on a git host that serves branches and tags but no commit by its hash: git's protocol v0 by default, and some hosts with v2.
 * The history of the branches and tags is fetched, first that of the refs that the namespace follows, until the commit is in the mirror.
 */
import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { Fault } from '../../platform/fault.ts'
import type { CommitHash } from '../../api/values.ts'
import { incomingRef, setShallow, shallowCommits } from '../disk/mirror-folder.ts'
import { evictOldest } from './bounded.ts'

/** One for each mirror. Only its writer may call `find`. */
export type HistorySearch = {
  /** Remembers a ref that was fetched for a namespace: it is searched first. */
  follow(namespace: string, ref: string): void
  /**
   * Fetches the commit into the folder together with some history, which the next clean-up of the mirror removes. Throws CommitNotServed
   * when no branch or tag leads to it within the pack limit, and the faults of git.
   */
  find(into: Into, commit: CommitHash, signal: AbortSignal): Promise<void>
}

/** A folder of a mirror, and the namespace that the search is for. */
type Into = { at: string; namespace: string }

type Deps = {
  /** HEAD, when the host has one, and its branches and tags, a line each: hash, tab, full name. Throws the faults of git. */
  list(into: Into, signal: AbortSignal): Promise<string>
  /** Fetches this many commits of each of these refs. `refspecs` may be thousands. Throws the faults of git. */
  fetch(into: Into, refspecs: readonly string[], depth: number, signal: AbortSignal): Promise<void>
  has(into: Into, commit: CommitHash, signal: AbortSignal): Promise<boolean>
  maxPackBytes: number
}

/** The number of commits of a followed ref that are fetched first, and after that: a rollback rarely goes further back. */
const firstDepth = 64
const secondDepth = 1_024
/** git's value for the whole history. */
const wholeHistory = 0x7fffffff
/** Begins as the ref of other fetches, so that git compares with both. */
const historyRef = `${incomingRef}-history`
const maxFollowed = 4
const maxMisses = 1_000

export function createHistorySearch({ list, fetch, has, maxPackBytes }: Deps): HistorySearch {
  /** The refs that were fetched last, by namespace; the latest at the end. */
  const followed = new Map<string, Set<string>>()
  /** Commits that were not found, and a digest of the branches and tags that the host had then. */
  const misses = new FairCache<{ digest: string; fault: Fault }>({ max: maxMisses })

  const search = async (into: Into, commit: CommitHash, refs: readonly string[], signal: AbortSignal): Promise<boolean> => {
    // Another namespace may have fetched what this one follows.
    const own = followed.get(into.namespace) ?? [...followed.values()].at(-1) ?? []
    const known = [...own].toReversed().filter((ref) => refs.includes(ref))
    for (const ref of known.length === 0 ? refs.slice(0, 1) : known) {
      for (const depth of [firstDepth, secondDepth]) {
        await fetch(into, [`+${ref}:${historyRef}`], depth, signal)
        if (await has(into, commit, signal)) return true
      }
    }
    if (refs.length > 0) await fetch(into, refs, wholeHistory, signal)
    return await has(into, commit, signal)
  }

  return {
    follow(namespace, ref) {
      const own = followed.get(namespace) ?? new Set<string>()
      own.delete(ref)
      evictOldest(own.add(ref), maxFollowed)
      followed.delete(namespace)
      followed.set(namespace, own)
    },
    async find(into, commit, signal) {
      const listed = await list(into, signal)
      const digest = hash('sha256', listed)
      const refs = refsIn(listed)
      const missed = misses.get(commit)
      if (missed?.digest === digest) throw missed.fault
      const miss = (fault: Fault): Fault => {
        misses.set(into.namespace, commit, { digest, fault })
        return fault
      }
      const shallow = shallowCommits(into.at)
      try {
        if (!(await search(into, commit, refs, signal))) throw miss(notServed(commit))
        shallow.push(commit)
      } catch (error) {
        if (!(error instanceof Fault) || error.reason !== 'RepositoryTooLarge') throw error
        throw miss(historyTooLarge(commit, maxPackBytes, error))
      } finally {
        // The mirror keeps single commits, so that a clean-up removes the history around them.
        setShallow(into.at, shallow)
        rmSync(path.join(into.at, historyRef), { force: true })
      }
    },
  }
}

/** The full names in a listing, HEAD first. A line with `^{}` has the object that a tag points to. */
function refsIn(listed: string): string[] {
  const names = listed.split('\n').flatMap((line) => line.split('\t')[1] ?? [])
  return names.filter((name) => !name.endsWith('^{}'))
}

const advice =
  'Point a branch or tag at the commit, or let the git host serve commits by hash (uploadpack.allowReachableSHA1InWant, or protocol v2)'

function notServed(commit: CommitHash): Fault {
  return new Fault(
    'CommitNotServed',
    `the git host does not serve commits by hash, and commit ${commit} is not in the history of any of its branches or tags. ${advice}`,
  )
}

function historyTooLarge(commit: CommitHash, maxPackBytes: number, cause: Fault): Fault {
  const limit = `the limit of ${Math.round(maxPackBytes / (1024 * 1024))} MiB for one fetch`
  return new Fault(
    'CommitNotServed',
    `the git host does not serve commits by hash, and commit ${commit} was not found in its branches and tags before their history exceeded ${limit}. ${advice}`,
    { cause },
  )
}
