/**
 * Which wanted paths cannot both exist: one path that is a file and a folder, and paths that differ in case only. Pure.
 */
import { foldName, parentOf } from '../../gatewaysync/values.ts'

/** Two paths that cannot both be written. */
export type Conflict = { kind: 'file-and-folder' | 'case'; path: string; other: string }

/** All conflicts among files, in the order of the paths; at most `limit`. */
export function findConflicts(paths: Iterable<string>, limit = 20): Conflict[] {
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
  // Files of one folder mostly follow each other.
  let latest = ''
  for (const path of paths) {
    const folded = foldName(path)
    const other = files.get(folded)
    if (other === undefined) files.set(folded, path)
    else conflicts.push({ kind: 'case', path, other })
    const folder = parentOf(path)
    if (folder !== latest) addFolder(folder)
    latest = folder
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
