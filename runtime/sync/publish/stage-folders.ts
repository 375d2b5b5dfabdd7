/**
 * Makes the folders below a run's folder, each once: before its first file arrives, or with it.
 */
import { isDirectlyIn, parentOf } from '../../gatewaysync/values.ts'
import { folderMaker, type Ownership } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'

/** Indexes are those of the plan's `puts`. Both throw errors of the file system. */
export type StageFolders = {
  /** Makes the folder of a file. */
  makeFor(index: number): void
  /** The address at which a file is opened; makes its folder first. */
  addressOf(index: number): string
}

type Options = {
  /** The run's folder, and all folders by which it is reached. */
  run: string
  folders: Folders
  ownership: Ownership
  /** The path of a file below the run's folder. */
  placeOf(index: number): string
  /** Folders that are there already; those that are made are added. */
  made?: Set<string>
}

/** For one run; remembers which folders it has made. */
export function createStageFolders({ run, folders: all, ownership, placeOf, made = new Set(['']) }: Options): StageFolders {
  /** Files arrive in the order of their folders: most lie in the same one as the file before, or beside it. */
  let latest = ''
  let above = ''
  /** The address of the latest, which stays as long as no other folder is asked for. */
  let address: string | undefined
  const makeOne = folderMaker(ownership)
  const ensure = (folder: string): void => {
    if (folder === above || made.has(folder)) return
    const parent = parentOf(folder)
    ensure(parent)
    makeOne(all.at(`${run}/${folder}`))
    made.add(folder)
    above = parent
  }
  const make = (folder: string): void => {
    if (folder === latest) return
    ensure(folder)
    latest = folder
    address = undefined
  }
  return {
    makeFor: (index) => make(parentOf(placeOf(index))),
    // Not path.join and path.dirname, which cost as much here as the system calls.
    addressOf(index) {
      const place = placeOf(index)
      if (address === undefined || !isDirectlyIn(place, latest)) {
        make(parentOf(place))
        address ??= all.folder(latest === '' ? run : `${run}/${latest}`)
      }
      return `${address}/${latest === '' ? place : place.slice(latest.length + 1)}`
    },
  }
}
