/**
 * Finds desired paths that cannot both exist: one path that is a file and a folder, and paths that differ only in case. Pure.
 */
import { foldName, isDirectlyIn, isWithin, parentOf } from '../../api/values.ts'

/** Two paths that cannot both be written. */
export type Conflict = { kind: 'file-and-folder' | 'case'; path: string; other: string }

/** The desired files. `each` yields every path once, and is called a few times. */
export type FilePaths = { each(): Iterable<string>; has(path: string): boolean }

/** Returns the conflicts among files, in the order of the paths; at most `limit`. */
export function findConflicts(files: FilePaths, limit = 20): Conflict[] {
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
