/**
 * Where the collections of a repository are. Pure.
 */
import { modeManifest } from './tree.ts'

/**
 * The folders that hold collections, sorted: the parent of each folder with a `config-mode.json`, and every `config/resources`. `''` is
 * the top of the repository.
 */
export function findRoots(paths: Iterable<string>): string[] {
  const roots = new Set<string>()
  for (const path of paths) {
    const root = rootOf(path)
    if (root !== undefined) roots.add(root)
  }
  return [...roots].toSorted()
}

/** The root that a file tells of by its path. */
export function rootOf(path: string): string | undefined {
  const conventional = /^(?:.*\/)?config\/resources(?=\/)/.exec(path)?.[0]
  if (conventional !== undefined) return conventional
  return path.endsWith(`/${modeManifest}`) ? path.split('/').slice(0, -2).join('/') : undefined
}
