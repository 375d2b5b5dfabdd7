/**
 * Asks the git host which commit a ref means. Callers with the same question share an answer; after a push only one whose question began
 * after the push.
 */
import type { Clock } from '../../clock.ts'
import { isCommitHash } from '../../gatewaysync/values.ts'
import type { Reading } from '../content/reading.ts'
import { forgetOldest } from './bounded.ts'
import { createCoalesce } from './coalesce.ts'
import type { Commits, NamedCommit } from './commits.ts'
import type { MirrorFiles } from './mirror-files.ts'
import { candidateRefs, refNotFound } from './refs.ts'

/** `name` is the full name of the ref that was chosen, or the hash that was asked for. `fetchedAt`: when the host was asked, RFC 3339. */
export type Resolved = NamedCommit & {
  fetchedAt: string
  /** RFC 3339; undefined when the commit claims an impossible time. Throws RefNotFound for what is no commit, and the faults of git. */
  committedAt: Promise<string | undefined>
  /** Of a branch, whether a tag has the same name: nobody has to wait for that who does not say it. Never throws. */
  hasTagToo?: Promise<boolean>
}

/** `fresh`: after a push, so that an answer from before it will not do. Throws RefNotFound and the faults of git. */
export type Resolve = (ref: string, options: { fresh: boolean }, signal: AbortSignal) => Promise<Resolved>

type Deps = {
  files: Pick<MirrorFiles, 'committedAt' | 'isThere' | 'tidyUp'>
  commits: Pick<Commits, 'byHash' | 'byRef'>
  reading: Pick<Reading, 'whole'>
  clock: Clock
}

/** For how many branches it is remembered whether a tag has the same name. */
const mostBranches = 1_000
/** How long that is remembered: a tag with a branch's name is an accident that is made, or mended, once. */
const tagLookedForMs = 3_600_000

/** `signal` aborts everything that is under way. */
export function createResolve({ files, commits, reading, clock }: Deps, signal: AbortSignal): Resolve {
  const shared = createCoalesce<Resolved>(signal)
  const tags = createTagLooks({ files, clock }, signal)
  const resolveNow = async (ref: string, fresh: boolean, own: AbortSignal): Promise<Resolved> => {
    const fetchedAt = clock.now().toString({ smallestUnit: 'second' })
    const found = isCommitHash(ref) ? await commits.byHash(ref, own) : await namedCommit(commits, ref, own)
    const hasTagToo = found.name === `refs/heads/${ref}` ? tags.hasTag(ref, fresh) : tags.forget(ref)
    const committedAt = reading.whole(found.commit, () => files.committedAt(found.commit, signal), signal)
    // Whoever asks for it gets its failure.
    committedAt.catch(() => undefined)
    files.tidyUp()
    return { ...found, fetchedAt, committedAt, ...(hasTagToo === undefined ? {} : { hasTagToo }) }
  }

  /** For each ref the latest question that was asked because of a push. */
  const asked = new Map<string, Promise<unknown>>()
  /** A caller that arrives while a question is under way may have pushed after it began, so it shares the next one. */
  const resolveFresh = (ref: string, own: AbortSignal): Promise<Resolved> => {
    const running = asked.get(ref)
    const ask = async (together: AbortSignal): Promise<Resolved> => {
      await running?.catch(() => undefined)
      const answer = resolveNow(ref, true, together)
      asked.set(ref, answer)
      return await answer.finally(() => asked.get(ref) === answer && asked.delete(ref))
    }
    return shared(`${running === undefined ? 'push' : 'next push'} ${ref}`, ask, own)
  }
  return (ref, { fresh }, own) =>
    fresh ? resolveFresh(ref, own) : shared(`poll ${ref}`, (together) => resolveNow(ref, false, together), own)
}

/** Tries one name after the other instead of listing all refs: fetching an exact ref brings nothing that is already held. */
async function namedCommit(commits: Pick<Commits, 'byRef'>, ref: string, signal: AbortSignal): Promise<NamedCommit> {
  const found = await commits.byRef(candidateRefs(ref), signal)
  if (found === undefined) throw refNotFound(ref)
  return found
}

/** Whether a tag has a branch's name. That costs a question of its own, asked when a branch is first resolved and hourly with a poll. */
function createTagLooks(
  { files, clock }: Pick<Deps, 'files' | 'clock'>,
  signal: AbortSignal,
): {
  hasTag(branch: string, fresh: boolean): Promise<boolean>
  /** For a ref that is not a branch. */
  forget(ref: string): undefined
} {
  const looks = new Map<string, { isThere: Promise<boolean>; untilMs: number }>()
  const look = async (branch: string): Promise<boolean> => {
    const known = looks.get(branch)?.isThere
    try {
      const isThere = await files.isThere(`refs/tags/${branch}`, signal)
      if (isThere !== undefined) return isThere
    } catch {
      // The branch itself was fetched; a failure to look for the tag must not fail that.
    }
    // Whoever asks next tries again.
    looks.delete(branch)
    return (await known) === true
  }
  return {
    hasTag(branch, fresh) {
      const known = looks.get(branch)
      if (known !== undefined && (fresh || clock.monotonicMs() < known.untilMs)) return known.isThere
      const isThere = look(branch)
      looks.set(branch, { isThere, untilMs: clock.monotonicMs() + tagLookedForMs })
      forgetOldest(looks, mostBranches)
      return isThere
    },
    forget: (ref) => void looks.delete(ref),
  }
}
