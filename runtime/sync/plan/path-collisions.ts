/**
 * Finds desired paths that cannot both exist: one path that is a file and a folder, and paths that differ only in case. And desired paths
 * that are other spellings of files to be deleted. Pure.
 */
import { foldName, isDirectlyIn, isWithin, parentOf } from '../../api/values.ts'
import type { Observations } from './observed.ts'

/** Two paths that cannot both be written. */
export type Collision = { kind: 'file-and-folder' | 'case'; path: string; other: string }

/** The desired files. `each` yields every path once, and is called a few times. */
export type FilePaths = { each(): Iterable<string>; has(path: string): boolean }

/** Returns the conflicts among files, in the order of the paths; at most `limit`. */
export function findPathCollisions(files: FilePaths, limit = 20): Collision[] {
  return mayConflict(files) ? conflictsAmong(files.each(), limit) : []
}

/**
 * Whether two paths fold to the same name, or one to a folder's name: most commits have no such pair among thousands of paths. Paths that
 * are already in folded form differ from each other: only the others are held and finally compared with all folders.
 */
function mayConflict(files: FilePaths): boolean {
  const otherFiles = new Set<string>()
  const otherFolders = new Map<string, string>()
  const isFile = (folded: string): boolean => files.has(folded) || otherFiles.has(folded)
  for (const path of files.each()) {
    const folded = foldName(path)
    if (folded === path) continue
    if (isFile(folded)) return true
    otherFiles.add(folded)
  }
  const folderConflicts = (folder: string): boolean => {
    const folded = foldName(folder)
    if (isFile(folded)) return true
    if (folded === folder) return false
    const other = otherFolders.get(folded)
    otherFolders.set(folded, folder)
    return other !== undefined && other !== folder
  }
  if (someFolder(files, folderConflicts)) return true
  return otherFolders.size > 0 && someFolder(files, (folder) => otherFolders.has(folder))
}

/** Whether the test holds for a folder above a file. */
function someFolder(files: FilePaths, test: (folder: string) => boolean): boolean {
  // Files of one folder mostly follow each other, and so do the folders of one folder.
  let latest = ''
  for (const path of files.each()) {
    if (isDirectlyIn(path, latest)) continue
    const before = latest
    latest = parentOf(path)
    for (let folder = latest; folder !== '' && !isWithin(before, folder); folder = parentOf(folder)) if (test(folder)) return true
  }
  return false
}

function conflictsAmong(paths: Iterable<string>, limit: number): Collision[] {
  const files = new Map<string, string>()
  const folders = new Map<string, string>()
  const conflicts: Collision[] = []
  const addFolder = (folder: string): void => {
    if (folder === '') return
    const folded = foldName(folder)
    const other = folders.get(folded)
    if (other === folder) return
    if (other === undefined) folders.set(folded, folder)
    else if (conflicts.length < limit) conflicts.push({ kind: 'case', path: folder, other })
    addFolder(parentOf(folder))
  }
  for (const path of paths) {
    const folded = foldName(path)
    const other = files.get(folded)
    if (other === undefined) files.set(folded, path)
    else conflicts.push({ kind: 'case', path, other })
    addFolder(parentOf(path))
  }
  for (const [folded, path] of files) {
    const folder = folders.get(folded)
    if (folder !== undefined) conflicts.push({ kind: folder === path ? 'file-and-folder' : 'case', path, other: folder })
  }
  return conflicts.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, limit)
}

/** A sentence that names both paths and what to do. */
export function describeCollision({ kind, path, other }: Collision): string {
  if (kind === 'file-and-folder') return `"${path}" would be a file and a folder at once`
  if (path.normalize('NFC') === other.normalize('NFC')) {
    return `two spellings of "${path.normalize('NFC')}" differ only in how Unicode composes their letters (${codePoints(path)}, ${codePoints(other)}); rename one, because some volumes treat them as one`
  }
  return `"${path}" and "${other}" differ in case only; rename one, because the gateway and some volumes treat them as one`
}

/** Lists the non-ASCII letters as code points, which distinguishes texts that appear identical. */
function codePoints(path: string): string {
  const points = Array.from(path).filter((letter) => (letter.codePointAt(0) ?? 0) > 127)
  return points
    .slice(0, 8)
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ')
}

/** Pairs of spellings that name the same file or folder. */
export type Aliases = {
  /** Old spellings by the new path. */
  files: ReadonlyMap<string, string>
  /** Folders whose own name changes its spelling, topmost only. */
  folders: readonly FolderAlias[]
}
/** The old and the new spelling of a folder's path. */
type FolderAlias = { from: string; to: string }

/** The normal result: no path has two spellings. */
export const noAliases: Aliases = { files: new Map(), folders: [] }

/** The names in a folder, as they are spelled on disk. */
type Listing = (folder: string) => ReadonlySet<string>

/**
 * On a volume that ignores case or Unicode composition two spellings name one file, and deleting the old name would delete the new file.
 * The folder's listing shows it, because it holds each name in one spelling only. Inodes do not: hard links share one, and some volumes
 * give each spelling its own. `puts`: desired paths that were not owned before; `removed`: paths to be deleted; `observed`: what exists at
 * both.
 */
export function findAliases(
  puts: Iterable<string>,
  removed: Iterable<string>,
  observed: Pick<Observations, 'get'>,
  listing: Listing,
): Aliases {
  const removedByFold = new Map<string, string>()
  for (const path of removed) if (observed.get(path)?.kind === 'file') removedByFold.set(fullFold(path), path)
  if (removedByFold.size === 0) return noAliases
  const files = new Map<string, string>()
  const folders = new Map<string, FolderAlias>()
  for (const path of puts) {
    const old = observed.get(path)?.kind === 'file' ? removedByFold.get(fullFold(path)) : undefined
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
export function respellRemoved(observed: Observations, removed: Iterable<string>, listing: Listing): void {
  const removedByFold = new Map([...removed].map((path) => [fullFold(path), path]))
  if (removedByFold.size === 0) return
  const obstacles = [...observed.entries()].filter(([, { kind }]) => kind === 'under-file' || kind === 'folder')
  const spelling = (file: string): string => {
    const going = removedByFold.get(fullFold(file))
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
