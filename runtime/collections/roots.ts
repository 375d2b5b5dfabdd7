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
    const conventional = /^(?:.*\/)?config\/resources(?=\/)/.exec(path)?.[0]
    if (conventional !== undefined) roots.add(conventional)
    else if (path.endsWith(`/${modeManifest}`)) roots.add(path.split('/').slice(0, -2).join('/'))
  }
  return [...roots].toSorted()
}
