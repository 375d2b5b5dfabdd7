/**
 * Which files of a commit a mapping takes: the one rule by which the gate knows what will be delivered and the engine delivers it. Pure.
 */
import { createExcluder, defaultExcludes, requireGlob } from './glob.ts'

/** The source side of a mapping. */
export type Coverage = {
  /** A folder, or with the type `file` one file, as a canonical path of the repository; `''` is the whole repository. */
  source: string
  type: 'dir' | 'file'
  /** Whether a path relative to the source is left out; not asked for a file that a mapping names itself. */
  excluded(path: string): boolean
}

/** Matches the default excludes and these patterns. Throws InvalidSpec for a broken glob; `label` names the list in messages. */
export function excluderOf(patterns: readonly string[], label: string): (path: string) => boolean {
  return createExcluder([...defaultExcludes, ...patterns.map((pattern) => requireGlob(pattern, label))])
}

/** The gateway rebuilds folders of this name wherever they are, so nothing below one is ours. */
const cacheFolder = '.resources'
/** The gateway's internal databases. */
const databaseExtension = '.idb'

/** Whether a path belongs to the gateway by its name, in whichever folder. `folded`: the path as `foldName` returns it. */
export function isGatewaysOwn(folded: string): boolean {
  return folded.endsWith(databaseExtension) || (folded.includes(cacheFolder) && folded.split('/').includes(cacheFolder))
}

/** The part of a path below the source, `''` for the file that a mapping names; undefined when the mapping does not take it. */
export function coveredBelow({ source, type, excluded }: Coverage, path: string): string | undefined {
  if (type === 'file') return path === source ? '' : undefined
  const below = belowFolder(path, source)
  return below === undefined || below === '' || excluded(below) ? undefined : below
}

/** The path relative to the folder; undefined when it is not below it. */
export function belowFolder(path: string, folder: string): string | undefined {
  if (folder === '') return path
  return path.startsWith(folder) && path[folder.length] === '/' ? path.slice(folder.length + 1) : undefined
}
