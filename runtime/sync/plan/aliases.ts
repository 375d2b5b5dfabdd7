/**
 * Finds desired paths that are other spellings of files to be deleted: on a volume that ignores case or Unicode composition both name one
 * file, and deleting the old name would delete the new file. The folder's listing shows it, because it holds each name in one spelling
 * only. Inodes do not: hard links share one, and some volumes assign one to each spelling. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { Observations } from './observed.ts'

/** Pairs of spellings that name the same file or folder. */
export type Aliases = {
  /** Old spellings by the new path. */
  files: ReadonlyMap<string, string>
  /** Folders whose own name changes its spelling, topmost only. */
  folders: readonly FolderAlias[]
}
/** The old and the new spelling of a folder's path. */
export type FolderAlias = { from: string; to: string }

/** The normal result: no path has two spellings. */
export const noAliases: Aliases = { files: new Map(), folders: [] }

/** The names in a folder, as they are spelled on disk. */
export type Listing = (folder: string) => ReadonlySet<string>

/** `puts`: desired paths that were not owned before; `removed`: paths to be deleted; `observed`: what exists at both. */
export function findAliases(
  puts: Iterable<string>,
  removed: Iterable<string>,
  observed: Pick<Observations, 'get'>,
  listing: Listing,
): Aliases {
  const goingByFold = new Map<string, string>()
  for (const path of removed) if (observed.get(path)?.kind === 'file') goingByFold.set(fullFold(path), path)
  if (goingByFold.size === 0) return noAliases
  const files = new Map<string, string>()
  const folders = new Map<string, FolderAlias>()
  for (const path of puts) {
    const old = observed.get(path)?.kind === 'file' ? goingByFold.get(fullFold(path)) : undefined
    if (old === undefined || !isOneEntry(old, path, listing)) continue
    files.set(path, old)
    const folder = differingFolder(old, path)
    if (folder !== undefined) folders.set(folder.to, folder)
  }
  return { files, folders: [...folders.values()] }
}

/**
 * If a file in the way of a desired path is one to be deleted, under another spelling, gives it the spelling of the records, so that the
 * plan recognizes it. Changes `observed`.
 */
export function respellGoing(observed: Observations, removed: Iterable<string>, listing: Listing): void {
  const goingByFold = new Map([...removed].map((path) => [fullFold(path), path]))
  if (goingByFold.size === 0) return
  const obstacles = [...observed.entries()].filter(([, { kind }]) => kind === 'under-file' || kind === 'folder')
  const spelling = (file: string): string => {
    const going = goingByFold.get(fullFold(file))
    return going !== undefined && observed.get(going)?.kind === 'file' && isOneEntry(going, file, listing) ? going : file
  }
  for (const [path, seen] of obstacles) {
    if (seen.kind === 'under-file') observed.set(path, { ...seen, spelled: spelling(seen.file) })
    if (seen.kind === 'folder') observed.set(path, { ...seen, files: seen.files.map(spelling) })
  }
}

/** Also folds letters that are equal in upper case only, such as ß and SS: some volumes do, and the listing decides in any case. */
function fullFold(path: string): string {
  return foldName(path.toUpperCase())
}

/** Whether two existing paths that fold to one name the same file: then the folder in which they differ lists only one of the names. */
function isOneEntry(old: string, path: string, listing: Listing): boolean {
  const [from, to] = [old.split('/'), path.split('/')]
  const at = from.findIndex((name, index) => name !== to[index])
  if (at < 0) return false
  const names = listing(from.slice(0, at).join('/'))
  return !(names.has(from[at] ?? '') && names.has(to[at] ?? ''))
}

/** The topmost folder in which two spellings of one path differ; undefined if only the file's own name does. */
function differingFolder(old: string, path: string): FolderAlias | undefined {
  const [from, to] = [old.split('/'), path.split('/')]
  const at = from.findIndex((name, index) => name !== to[index])
  if (from.length !== to.length || at < 0 || at === from.length - 1) return undefined
  return { from: from.slice(0, at + 1).join('/'), to: to.slice(0, at + 1).join('/') }
}
