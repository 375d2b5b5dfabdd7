/**
 * Which wanted paths cannot both exist: one path that is a file and a folder, and paths that differ in case only. Pure.
 */
import { foldName, isDirectlyIn, parentOf } from '../../gatewaysync/values.ts'

/** Two paths that cannot both be written. */
export type Conflict = { kind: 'file-and-folder' | 'case'; path: string; other: string }

/** The files that are to be: `each` gives every path once, and is gone through a second time where there are conflicts. */
export type FilePaths = { each(): Iterable<string>; has(path: string): boolean }

/** All conflicts among files, in the order of the paths; at most `limit`. */
export function findConflicts(files: FilePaths, limit = 20): Conflict[] {
  return mayConflict(files) ? conflictsAmong(files.each(), limit) : []
}

/**
 * Whether two of them fold to one name, or one to that of a folder: most commits hold nothing like that, and thousands of paths. Those that are
 * folded already differ from each other, so that only the others are held.
 */
function mayConflict(files: FilePaths): boolean {
  const folders = new Set<string>()
  const otherFiles = new Set<string>()
  const otherFolders = new Set<string>()
  const addFile = (file: string): boolean => {
    const folded = foldName(file)
    if (folded === file) return true
    if (files.has(folded) || otherFiles.has(folded)) return false
    otherFiles.add(folded)
    return true
  }
  const addFolder = (folder: string): boolean => {
    if (folder === '' || folders.has(folder)) return true
    folders.add(folder)
    const folded = foldName(folder)
    if (files.has(folded) || otherFolders.has(folded)) return false
    if (folded !== folder) {
      if (folders.has(folded)) return false
      otherFolders.add(folded)
    }
    return addFolder(parentOf(folder))
  }
  // Files of one folder mostly follow each other.
  let latest = ''
  for (const path of files.each()) {
    if (!addFile(path)) return true
    if (isDirectlyIn(path, latest)) continue
    latest = parentOf(path)
    if (!addFolder(latest)) return true
  }
  for (const folded of otherFiles) if (folders.has(folded) || otherFolders.has(folded)) return true
  return false
}

function conflictsAmong(paths: Iterable<string>, limit: number): Conflict[] {
  const files = new Map<string, string>()
  const folders = new Map<string, string>()
  const conflicts: Conflict[] = []
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
export function describeConflict({ kind, path, other }: Conflict): string {
  if (kind === 'file-and-folder') return `"${path}" would be a file and a folder at once`
  if (path.normalize('NFC') === other.normalize('NFC')) {
    return `two spellings of "${path.normalize('NFC')}" differ only in how Unicode composes their letters (${codePoints(path)}, ${codePoints(other)}); rename one, for some volumes take them for one`
  }
  return `"${path}" and "${other}" differ in case only; rename one, for the gateway and some volumes take them for one`
}

/** The letters beyond ASCII as code points, by which two texts that look the same can be told apart. */
function codePoints(path: string): string {
  const points = Array.from(path).filter((letter) => (letter.codePointAt(0) ?? 0) > 127)
  return points
    .slice(0, 8)
    .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ')
}
