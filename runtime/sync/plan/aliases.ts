/**
 * Which wanted paths are other spellings of files that are to be deleted: on a volume that ignores case or Unicode composition both name one
 * file, and deleting the old name would delete the new file. Equal inodes show it, which needs no probe of the volume and also works for a
 * folder that ignores case on a volume that does not. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import type { Observed, Observations } from './observed.ts'

/** Pairs of spellings that name the same file or folder. */
export type Aliases = {
  /** Old spellings by the new path. */
  files: ReadonlyMap<string, string>
  /** Folders whose own name changes its spelling, topmost only. */
  folders: readonly FolderAlias[]
}
/** The old and the new spelling of a folder's path. */
export type FolderAlias = { from: string; to: string }

/** The usual result: nothing is spelled in two ways. */
export const noAliases: Aliases = { files: new Map(), folders: [] }

/** `puts`: wanted paths that were not ours before; `removed`: paths to be deleted; `observed`: what stands at both. */
export function findAliases(puts: Iterable<string>, removed: Iterable<string>, observed: Pick<Observations, 'get'>): Aliases {
  const goingByInode = new Map<number, string>()
  for (const path of removed) {
    const seen = observed.get(path)
    if (seen?.kind === 'file' && seen.stat.ino !== 0) goingByInode.set(seen.stat.ino, path)
  }
  if (goingByInode.size === 0) return noAliases
  const files = new Map<string, string>()
  const folders = new Map<string, FolderAlias>()
  for (const path of puts) {
    const seen = observed.get(path)
    const old = seen?.kind === 'file' ? goingByInode.get(seen.stat.ino) : undefined
    if (old === undefined || old === path) continue
    files.set(path, old)
    const folder = differingFolder(old, path)
    if (folder !== undefined) folders.set(folder.to, folder)
  }
  return { files, folders: [...folders.values()] }
}

/**
 * When a file in the way of a wanted path is one that is to be deleted, under another spelling, gives it the spelling of our records, so that
 * the plan recognises it. Changes `observed`.
 */
export function respellGoing(observed: Observations, removed: Iterable<string>, { look }: { look(path: string): Observed }): void {
  const goingByFold = new Map([...removed].map((path) => [foldName(path), path]))
  if (goingByFold.size === 0) return
  const inTheWay = [...observed.entries()].filter(([, { kind }]) => kind === 'under-file' || kind === 'folder')
  const spelling = (file: string): string => {
    const going = goingByFold.get(foldName(file))
    const [one, other] = [going === undefined ? undefined : observed.get(going), look(file)]
    return going !== undefined && one?.kind === 'file' && other.kind === 'file' && one.stat.ino === other.stat.ino ? going : file
  }
  for (const [path, seen] of inTheWay) {
    if (seen.kind === 'under-file') observed.set(path, { ...seen, spelled: spelling(seen.file) })
    if (seen.kind === 'folder') observed.set(path, { ...seen, files: seen.files.map(spelling) })
  }
}

/** The topmost folder in which two spellings of one path differ; undefined when only the file's own name does. */
function differingFolder(old: string, path: string): FolderAlias | undefined {
  const [from, to] = [old.split('/'), path.split('/')]
  const at = from.findIndex((name, index) => name !== to[index])
  if (from.length !== to.length || at < 0 || at === from.length - 1) return undefined
  return { from: from.slice(0, at + 1).join('/'), to: to.slice(0, at + 1).join('/') }
}
