/**
 * Finds the collections of a repository. Pure.
 */
import { isWithin } from '../../api/values.ts'
import { modeManifest } from './tree.ts'

const conventional = 'config/resources'

/**
 * The folders that hold collections, sorted: every `config/resources`; without one, the parent of each folder with a `config-mode.json`.
 * `''` is the top of the repository. `asked` are folders that the user named: each of them is a root, in addition to others.
 */
export function findRoots(paths: Iterable<string>, asked: readonly string[] = []): string[] {
  const roots = new Set<string>()
  for (const path of paths) {
    const root = rootOf(path, asked)
    if (root !== undefined) roots.add(root)
  }
  return chooseRoots(roots, asked)
}

/** Selects the roots that hold collections, sorted. A `config-mode.json` beside `config/resources` is a copy or a template. */
export function chooseRoots(roots: ReadonlySet<string>, asked: readonly string[]): string[] {
  const sorted = [...roots].toSorted()
  return sorted.some(isConventional) ? sorted.filter((root) => isConventional(root) || asked.includes(root)) : sorted
}

/** The root that the path of a file indicates. Files that a gateway unpacks below `var` indicate none, unless `asked` is below it. */
export function rootOf(path: string, asked: readonly string[] = []): string | undefined {
  const inCollections = path.includes(`${conventional}/`) ? /^(?:.*\/)?config\/resources(?=\/)/.exec(path)?.[0] : undefined
  const root = inCollections ?? parentOfCollection(path)
  return root === undefined || isBelowVar(root, asked) ? undefined : root
}

function parentOfCollection(path: string): string | undefined {
  return path.endsWith(`/${modeManifest}`) ? path.split('/').slice(0, -2).join('/') : undefined
}

function isConventional(root: string): boolean {
  return root === conventional || root.endsWith(`/${conventional}`)
}

function isBelowVar(root: string, asked: readonly string[]): boolean {
  const known = asked.filter((folder) => isWithin(root, folder)).map((folder) => folder.length)
  return /(?:^|\/)var(?:\/|$)/.test(root.slice(Math.max(0, ...known)))
}
