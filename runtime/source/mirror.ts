/**
 * One bare mirror of one repository: resolves refs, fetches single commits and reads them. One writer at a time; readers need no lock
 * while a ref of ours holds their commit (git.md section 3).
 */
import { rmSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { VersionedListing } from '../collections/listing.ts'
import type { Origin } from '../delivery/protocol.ts'
import { asFault, Fault } from '../fault.ts'
import { type CommitHash, isCommitHash, parseCommitHash, type RelativePath } from '../gatewaysync/values.ts'
import type { Log } from '../log.ts'
import { createCoalesce } from './coalesce.ts'
import { type GitLimits, type GitRun, runGit } from './git.ts'
import { prepareFolder, refFolder, repack, sweep } from './mirror-folder.ts'
import { mirrorListing } from './mirror-listing.ts'
import { mirrorSource } from './mirror-source.ts'
import { connect } from './connect.ts'
import type { Remote } from './remote.ts'
import { candidateRefs, type FoundRef, pickRef } from './refs.ts'
import type { Offers } from './offers.ts'

/** A commit that the mirror has. */
type Held = { commit: CommitHash; committedAt: string | undefined }

export type Resolved = Held & { fetchedAt: string }

export type Mirror = {
  /** What it is a mirror of. */
  readonly remote: Remote
  /**
   * What a branch, tag, `refs/…` name or full hash stands for at the git host; the commit is in the mirror then. `fresh` fetches at once,
   * else the host is only asked. Throws RefNotFound and the faults of git.
   */
  resolve(ref: string, options: { fresh: boolean }, signal: AbortSignal): Promise<Resolved>
  /** Makes sure that a commit is there, if need be by fetching it by hash. Throws CommitGone and the faults of git. */
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /** Which commits an owner needs; what nobody needs is dropped with the next clean-up. */
  keep(owner: string, commits: readonly CommitHash[]): void
  /** The content below the folders that a profile reads. */
  source(roots: (profile: string) => readonly RelativePath[] | undefined): Origin
  /** What a commit holds below some folders, for the collection checks; the commit must be there. */
  listing(commit: CommitHash, roots: readonly RelativePath[]): VersionedListing
  /** Removes everything from the disk; asked again, the mirror is made anew. */
  drop(): Promise<void>
  /** Settles when nothing is under way. */
  settled(): Promise<void>
}

export type MirrorOptions = {
  folder: string
  remote: Remote
  limits: GitLimits
  offers: Offers
  clock: Clock
  log: Log
  signal: AbortSignal
}

const askTimeoutMs = 30_000
const fetchTimeoutMs = 600_000
const localTimeoutMs = 60_000
/** Every so many fetches the packs are made one (git.md section 3). */
const fetchesBetweenRepacks = 30

export function openMirror(options: MirrorOptions): Mirror {
  const { folder, limits, clock, log } = options
  const { url } = options.remote
  const resolving = createCoalesce<Resolved>(options.signal)
  const fetching = createCoalesce<void>(options.signal)
  const owners = new Map<string, readonly CommitHash[]>()
  /** Commits told of since the last clean-up: their callers may not have said yet that they keep them. */
  let toldOf = new Set<CommitHash>()
  let queue: Promise<unknown> = Promise.resolve()
  let prepared = false
  let fetches = 0
  /** Names that were found to be tags: a few of them, for each stands in a GatewaySync. */
  const notBranches = new Set<string>()

  const git = async (run: Omit<GitRun, 'folder'>, signal: AbortSignal): Promise<Buffer> => {
    try {
      return await runGit({ folder, ...run }, { limits, signal })
    } catch (error) {
      // A failure that nothing explains may be the mirror's own: it is looked at before its next use.
      if (error instanceof Fault && error.reason === 'GitFailed') prepared = false
      throw error
    }
  }
  const local = (args: readonly string[], signal: AbortSignal, input = ''): Promise<Buffer> =>
    git({ args, input, timeoutMs: localTimeoutMs }, signal)
  const remote = async (args: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<Buffer> => {
    await using connection = await connect(options.remote, signal)
    return await git({ args, ...connection.forGit, protocols: [url.protocol], timeoutMs }, signal)
  }

  /** One writer at a time; a failed one holds nobody up. */
  const exclusively = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const run = queue.then(work, work)
    queue = run.catch(() => undefined)
    return run
  }

  const damaged = (why: string): void => log.warn({ reason: 'GitFailed', message: why }, 'a damaged mirror is made anew')
  /** Called by the writer; anyone else waits for `ready`. */
  const prepare = async (signal: AbortSignal): Promise<void> => {
    if (prepared) return
    await prepareFolder(folder, limits, damaged, signal)
    prepared = true
  }
  const ready = async (signal: AbortSignal): Promise<void> => {
    if (!prepared) await exclusively(() => prepare(signal))
  }

  /** Throws GitFailed where the mirror has no such commit. */
  const look = async (name: string, signal: AbortSignal): Promise<Held> =>
    parseHeld((await local(['log', '-1', '--format=%H %ct', name, '--'], signal)).toString('latin1'))

  const has = async (commit: CommitHash, signal: AbortSignal): Promise<boolean> => {
    toldOf.add(commit)
    await ready(signal)
    const found = await local(['cat-file', '--batch-check=%(objecttype)'], signal, `${keepRef(commit)}\n`)
    return found.toString('latin1').startsWith('commit')
  }

  /** Fetches one exact ref or hash, and keeps the commit behind it under a ref of ours. */
  const fetchOne = (what: string, signal: AbortSignal): Promise<Held> =>
    exclusively(async () => {
      await prepare(signal)
      const args = [
        'fetch',
        '-q',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-recurse-submodules',
        '--depth=1',
        // One commit for the host to compare with; with every kept one it takes twice as long in a large repository.
        `--negotiation-tip=${incomingRef}*`,
        '--force',
        '--end-of-options',
      ]
      try {
        await remote([...args, url.text, `+${what}:${incomingRef}`], fetchTimeoutMs, signal)
        fetches += 1
        const held = await look(`${incomingRef}^{commit}`, signal)
        await local(['update-ref', keepRef(held.commit), held.commit], signal)
        toldOf.add(held.commit)
        return held
      } catch (error) {
        // A killed fetch leaves lock files that would fail every later one; a mirror that is to be looked at is swept then.
        if (prepared) sweep(folder)
        throw error
      }
    })

  const askHost = async (ref: string, signal: AbortSignal): Promise<FoundRef> => {
    await ready(signal)
    const wanted = candidateRefs(ref)
    const args = ['ls-remote', '-q', '--end-of-options', url.text, ...wanted.flatMap((name) => [name, `${name}^{}`])]
    return pickRef((await remote(args, askTimeoutMs, signal)).toString('utf8'), wanted, ref)
  }

  const tidyUp = (): void => {
    if (fetches < fetchesBetweenRepacks) return
    fetches = 0
    const tidied = exclusively(async () => {
      const kept = new Set([...[...owners.values()].flat(), ...toldOf])
      toldOf = new Set()
      await repack(local, kept, options.signal)
    })
    tidied.catch((error: unknown) => {
      if (!options.signal.aborted)
        log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'a mirror was not tidied up')
    })
  }

  const resolveNow = async (ref: string, fresh: boolean, signal: AbortSignal): Promise<Resolved> => {
    const fetchedAt = clock.now().toString({ smallestUnit: 'second' })
    const held = isCommitHash(ref) ? await heldCommit(ref, ref, signal) : await namedCommit(ref, fresh, signal)
    tidyUp()
    return { ...held, fetchedAt }
  }

  /** An answer counts only for a push that came before the question: whoever comes meanwhile shares the next one. */
  const asking = new Map<string, Promise<unknown>>()
  const resolveFresh = (ref: string, signal: AbortSignal): Promise<Resolved> => {
    const running = asking.get(ref)
    const ask = async (own: AbortSignal): Promise<Resolved> => {
      await running?.catch(() => undefined)
      const answer = resolveNow(ref, true, own)
      asking.set(ref, answer)
      return await answer.finally(() => asking.get(ref) === answer && asking.delete(ref))
    }
    return resolving(`${running === undefined ? 'push' : 'next push'} ${ref}`, ask, signal)
  }

  const heldCommit = async (commit: CommitHash, name: string, signal: AbortSignal): Promise<Held> =>
    (await has(commit, signal)) ? await look(commit, signal) : await fetchOne(name, signal)

  /**
   * After a push the commit is nearly always new, so it is fetched at once by the name that wins: a branch before a tag. A poll asks
   * first, and so does whoever names a tag.
   */
  const namedCommit = async (ref: string, fresh: boolean, signal: AbortSignal): Promise<Held> => {
    const [likeliest = ref] = candidateRefs(ref)
    if (fresh && !notBranches.has(ref)) {
      try {
        return await fetchOne(likeliest, signal)
      } catch (error) {
        if (!(error instanceof Fault) || error.reason !== 'RefNotFound' || likeliest === ref) throw error
      }
    }
    const { name, commit } = await askHost(ref, signal)
    if (name === likeliest) notBranches.delete(ref)
    else notBranches.add(ref)
    return await heldCommit(commit, name, signal)
  }

  const ensure: Mirror['ensure'] = async (commit, signal) => {
    if (await has(commit, signal)) return
    try {
      await fetching(commit, async (own) => void (await fetchOne(commit, own)), signal)
      tidyUp()
    } catch (error) {
      if (error instanceof Fault && error.reason === 'RefNotFound') {
        throw new Fault('CommitGone', `neither the mirror nor the git host has commit ${commit} any more`, { cause: error })
      }
      throw error
    }
  }

  return {
    remote: options.remote,
    resolve: (ref, { fresh }, signal) =>
      fresh ? resolveFresh(ref, signal) : resolving(`poll ${ref}`, (own) => resolveNow(ref, false, own), signal),
    ensure,
    keep(owner, commits) {
      if (commits.length === 0) owners.delete(owner)
      else owners.set(owner, [...commits])
    },
    source: (roots) => mirrorSource({ folder, limits, offers: options.offers, has, ensure, roots }),
    listing: (commit, roots) => mirrorListing({ folder, limits }, commit, roots),
    drop: () =>
      exclusively(async () => {
        rmSync(folder, { recursive: true, force: true })
        prepared = false
        fetches = 0
        toldOf.clear()
      }),
    async settled() {
      await queue
    },
  }
}

const incomingRef = `${refFolder}incoming`

function keepRef(commit: CommitHash): string {
  return `${refFolder}${commit}`
}

/** `<commit> <seconds since 1970>`; a commit may claim any time. */
function parseHeld(line: string): Held {
  const [commit = '', time = ''] = line.trim().split(' ')
  const seconds = Number(time)
  const isTime = Number.isSafeInteger(seconds) && seconds > 0 && seconds < 8_640_000_000_000
  const instant = isTime ? Temporal.Instant.fromEpochMilliseconds(seconds * 1000) : undefined
  return { commit: parseCommitHash(commit), committedAt: instant?.toString({ smallestUnit: 'second' }) }
}
