/**
 * Suggests the intended path for a missing folder or file: one with a similar name, or for the root of collections a folder with the layout
 * of one.
 */
import { editDistance } from '../../platform/text/edit-distance.ts'
import { type CommitHash, parseRelativePath } from '../../api/values.ts'
import type { GitLimits } from '../command/git.ts'
import { listCommit } from './list-files.ts'

/** The paths of a commit to compare with, and the folders that hold collections. */
export type NamedPaths = { paths: Iterable<string>; roots: readonly string[] }

const maxNamed = 20_000
/** Comparing takes the product of two lengths for each. */
const maxCompared = 200
const maxCharacters = 300
const marker = /^(?:(.*)\/)?[^/]+\/config-mode\.json$/

/** Returns the most similar path; undefined if none is similar. `isRoot`: the path should hold collections. Pure. */
export function nearestPath(missing: string, { paths, roots }: NamedPaths, isRoot: boolean): string | undefined {
  const name = missing.slice(missing.lastIndexOf('/') + 1)
  const max = Math.max(2, Math.floor(name.length / 3))
  let best: { path: string; edits: number } | undefined
  const candidates = [...(isRoot ? roots : paths)].filter((path) => Math.abs(path.length - missing.length) <= max && path !== missing)
  for (const path of mostSimilar(missing, candidates)) {
    const edits = editDistance(missing.toLowerCase(), path.toLowerCase())
    if (edits <= max && (best === undefined || edits < best.edits)) best = { path, edits }
  }
  return best?.path ?? (isRoot ? roots[0] : undefined)
}

/** Few candidates, those with the longest common beginning and end: a path with a typo shares nearly all of it. */
function mostSimilar(missing: string, candidates: readonly string[]): readonly string[] {
  if (candidates.length <= maxCompared) return candidates
  const folded = missing.toLowerCase()
  const ranked = candidates.map((path) => ({ path, shared: sharedEnds(folded, path.toLowerCase()) }))
  return ranked
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, maxCompared)
    .map(({ path }) => path)
}

function sharedEnds(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let start = 0
  while (start < most && one[start] === other[start]) start += 1
  let end = 0
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1
  return start + end
}

/** Reads the whole listing of a commit. Throws what `listCommit` throws. */
export async function findNearPath(
  repository: { folder: string; limits: GitLimits },
  { commit, missing, isRoot }: { commit: CommitHash; missing: string; isRoot: boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (missing.length > maxCharacters) return undefined
  const paths = new Set<string>()
  const roots = new Set<string>()
  for await (const batch of listCommit(repository, commit, [parseRelativePath('')], signal, false)) {
    for (const { path } of batch) {
      const root = folderOfCollections(path)
      if (root !== undefined) roots.add(root)
      for (let at = path.length; at > 0 && paths.size < maxNamed; at = path.lastIndexOf('/', at - 1)) {
        const part = path.slice(0, at)
        if (paths.has(part)) break
        paths.add(part)
      }
    }
  }
  return nearestPath(missing, { paths, roots: [...roots] }, isRoot)
}

/** The folder of the collection that has this file; undefined for the root of the repository, and for another file. Pure. */
export function folderOfCollections(path: string): string | undefined {
  return marker.exec(path)?.[1]
}
