/**
 * Decides which files of a commit a mapping covers, for both validation and the sync engine. Pure.
 */
import { createExcluder, defaultExcludes, requireGlob } from './glob/glob.ts'

/** The source side of a mapping. */
export type Coverage = {
  /** A folder, or with the type `File` one file, as a canonical path of the repository; `''` is the whole repository. */
  source: string
  type: 'Directory' | 'File'
  /** Whether a path relative to the source is excluded; not called for a file that a mapping names itself. */
  excluded(path: string): boolean
}

/** Matches the default excludes and these patterns. Throws InvalidSpec for an invalid glob; `label` names the list in messages. */
export function excluderOf(patterns: readonly string[], label: string): (path: string) => boolean {
  return createExcluder([...defaultExcludes, ...patterns.map((pattern) => requireGlob(pattern, label))])
}

/** The gateway rebuilds folders of this name anywhere, so nothing below one is synced. */
const cacheFolder = '.resources'
/** The gateway's internal databases. */
const databaseExtension = '.idb'

/** Whether a path belongs to the gateway by its name, in any folder. `folded`: the path as `foldName` returns it. */
export function isGatewaysOwn(folded: string): boolean {
  return folded.endsWith(databaseExtension) || (folded.includes(cacheFolder) && folded.split('/').includes(cacheFolder))
}

/** Returns the part of a path below the source, `''` for the file that a mapping names; undefined when the mapping does not cover it. */
export function coveredBelow({ source, type, excluded }: Coverage, path: string): string | undefined {
  if (type === 'File') return path === source ? '' : undefined
  const below = belowFolder(path, source)
  return below === undefined || below === '' || excluded(below) ? undefined : below
}

/** Returns the path relative to the folder; undefined when it is not below it. */
export function belowFolder(path: string, folder: string): string | undefined {
  if (folder === '') return path
  return path.startsWith(folder) && path[folder.length] === '/' ? path.slice(folder.length + 1) : undefined
}
