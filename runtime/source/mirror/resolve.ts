/**
 * What a ref stands for at the git host. Callers that ask the same share an answer, but for a push only one to a question that began after it.
 */
import type { Clock } from '../../clock.ts'
import { isCommitHash } from '../../gatewaysync/values.ts'
import { forgetOldest } from './bounded.ts'
import { createCoalesce } from './coalesce.ts'
import type { Commits, NamedCommit } from './commits.ts'
import type { MirrorFiles } from './mirror-files.ts'
import { candidateRefs, refNotFound } from './refs.ts'

/** `name` is the full name of the ref that won, or the hash that was asked for. */
export type Resolved = NamedCommit & {
  fetchedAt: string
  /** The ref is a branch, and a tag has the same name. */
  hasTagToo?: boolean
}

export type Resolve = (ref: string, options: { fresh: boolean }, signal: AbortSignal) => Promise<Resolved>

type Deps = { files: Pick<MirrorFiles, 'isThere' | 'tidyUp'>; commits: Pick<Commits, 'byHash' | 'byRef'>; clock: Clock }

/** Branches of which it is remembered whether a tag has their name. */
const mostBranches = 1_000
/** A tag with a branch's name is a mishap, made or mended once. */
const tagLookedForMs = 3_600_000

/** `signal` ends everything that is under way. */
export function createResolve({ files, commits, clock }: Deps, signal: AbortSignal): Resolve {
  const shared = createCoalesce<Resolved>(signal)
  const tags = createTagLooks({ files, clock })
  const resolveNow = async (ref: string, fresh: boolean, own: AbortSignal): Promise<Resolved> => {
    const fetchedAt = clock.now().toString({ smallestUnit: 'second' })
    const found = isCommitHash(ref) ? await commits.byHash(ref, own) : await namedCommit(commits, ref, own)
    const hasTagToo = found.name === `refs/heads/${ref}` ? await tags.hasTag(ref, fresh, own) : tags.forget(ref)
    files.tidyUp()
    return { ...found, fetchedAt, ...(hasTagToo ? { hasTagToo } : {}) }
  }

  /** The newest question for each ref that began for a push. */
  const asked = new Map<string, Promise<unknown>>()
  /** Whoever comes while a question is under way may have pushed after it began, and shares the next one. */
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

/** The host is asked for one name after the other, not for a list of all that it has: an exact fetch brings nothing that is there already. */
async function namedCommit(commits: Pick<Commits, 'byRef'>, ref: string, signal: AbortSignal): Promise<NamedCommit> {
  for (const name of candidateRefs(ref)) {
    const found = await commits.byRef(name, signal)
    if (found !== undefined) return found
  }
  throw refNotFound(ref)
}

/** Whether a tag has a branch's name. It costs a question of its own: asked with the first one about a branch, and then now and then with a poll. */
function createTagLooks({ files, clock }: Pick<Deps, 'files' | 'clock'>): {
  hasTag(branch: string, fresh: boolean, signal: AbortSignal): Promise<boolean>
  /** Returns false: what is no branch has no tag beside it. */
  forget(ref: string): false
} {
  const looks = new Map<string, { isThere: boolean; untilMs: number }>()
  return {
    async hasTag(branch, fresh, signal) {
      const known = looks.get(branch)
      if (known !== undefined && (fresh || clock.monotonicMs() < known.untilMs)) return known.isThere
      try {
        const isThere = await files.isThere(`refs/tags/${branch}`, signal)
        if (isThere === undefined) return known?.isThere === true
        looks.set(branch, { isThere, untilMs: clock.monotonicMs() + tagLookedForMs })
        forgetOldest(looks, mostBranches)
        return isThere
      } catch (error) {
        // The branch was fetched, and only that was asked for.
        if (signal.aborted) throw error
        return known?.isThere === true
      }
    },
    forget(ref) {
      looks.delete(ref)
      return false
    },
  }
}
