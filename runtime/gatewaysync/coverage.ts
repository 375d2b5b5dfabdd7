/**
 * What a mapping takes of the files of a commit: the one rule by which the gate knows what is delivered and the engine delivers it. Pure.
 */
import { createExcluder, defaultExcludes, requireGlob } from './glob.ts'

export type Coverage = {
  /** A folder, or with the type `file` one file, as a canonical path of the repository; `''` is the whole repository. */
  source: string
  type: 'dir' | 'file'
  /** Whether a path relative to the source is left out; a file that a mapping names is never. */
  excluded(path: string): boolean
}

/** Throws InvalidSpec for a pattern that is no glob; `label` names the list for messages. */
export function excluderOf(patterns: readonly string[], label: string): (path: string) => boolean {
  return createExcluder([...defaultExcludes, ...patterns.map((pattern) => requireGlob(pattern, label))])
}

/** Rebuilt by the gateway wherever it stands; below a folder of this name nothing is ours. */
const cacheFolder = '.resources'
/** The gateway's internal databases. */
const databaseExtension = '.idb'

/** Whether a path belongs to the gateway by its name, wherever it lies; the path is folded as names are (`foldName`). */
export function isGatewaysOwn(folded: string): boolean {
  return folded.endsWith(databaseExtension) || (folded.includes(cacheFolder) && folded.split('/').includes(cacheFolder))
}

/** The part of a path below the source, `''` for the file that a mapping names; undefined where it is not taken. */
export function coveredBelow({ source, type, excluded }: Coverage, path: string): string | undefined {
  if (type === 'file') return path === source ? '' : undefined
  const below = belowFolder(path, source)
  return below === undefined || below === '' || excluded(below) ? undefined : below
}

/** The path relative to the folder; undefined where it does not lie below it. */
export function belowFolder(path: string, folder: string): string | undefined {
  if (folder === '') return path
  return path.startsWith(folder) && path[folder.length] === '/' ? path.slice(folder.length + 1) : undefined
}
