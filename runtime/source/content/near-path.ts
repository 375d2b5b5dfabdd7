/**
 * What somebody may have meant who named a folder or file that a commit does not hold: one whose name is nearly the same, or for the root of
 * collections a folder that looks like one.
 */
import { editDistance } from '../../edit-distance.ts'
import { type CommitHash, parseRelativePath } from '../../gatewaysync/values.ts'
import type { GitLimits } from '../git/git.ts'
import { listCommit } from './list-files.ts'

/** What a commit is asked for: the paths that are compared, and the folders that hold collections. */
export type NamedPaths = { paths: Iterable<string>; roots: readonly string[] }

/** Comparing takes the product of two lengths for each. */
const maxCompared = 20_000
const maxCharacters = 300
const marker = /^(.*?)\/?[^/]+\/config-mode\.json$/

/** Undefined where nothing is near. `isRoot`: it should hold collections. Pure. */
export function nearestPath(missing: string, { paths, roots }: NamedPaths, isRoot: boolean): string | undefined {
  const name = missing.slice(missing.lastIndexOf('/') + 1)
  const most = Math.max(2, Math.floor(name.length / 3))
  let best: { path: string; edits: number } | undefined
  for (const path of isRoot ? roots : paths) {
    if (Math.abs(path.length - missing.length) > most || path === missing) continue
    const edits = editDistance(missing.toLowerCase(), path.toLowerCase())
    if (edits <= most && (best === undefined || edits < best.edits)) best = { path, edits }
  }
  return best?.path ?? (isRoot ? roots[0] : undefined)
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
      const root = marker.exec(path)?.[1]
      if (root !== undefined && root !== '') roots.add(root)
      for (let at = path.length; at > 0 && paths.size < maxCompared; at = path.lastIndexOf('/', at - 1)) {
        const part = path.slice(0, at)
        if (paths.has(part)) break
        paths.add(part)
      }
    }
  }
  return nearestPath(missing, { paths, roots: [...roots] }, isRoot)
}
