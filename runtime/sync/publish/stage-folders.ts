/**
 * The folders below that of a run, each made once: before its first file comes, or with it.
 */
import { folderMaker, type Ownership } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'
import { parentOf } from '../model/paths.ts'

export type StageFolders = {
  /** Makes the folder that the put of an index lies in. */
  makeFor(index: number): void
  /** By which path the put of an index is opened; its folder is there then. */
  addressOf(index: number): string
}

type Options = {
  /** The run's folder, and all folders by which it is reached. */
  run: string
  folders: Folders
  ownership: Ownership
  /** Where the put of an index goes below the run's folder. */
  placeOf(index: number): string
}

/** Throws the faults of the system. */
export function createStageFolders({ run, folders: all, ownership, placeOf }: Options): StageFolders {
  const made = new Set<string>([''])
  /** Files come in the order of their folders: most lie where the one before them does. */
  let latest = ''
  const makeOne = folderMaker(ownership)
  const make = (folder: string): void => {
    if (folder === latest) return
    if (!made.has(folder)) {
      make(parentOf(folder))
      makeOne(all.at(`${run}/${folder}`))
      made.add(folder)
    }
    latest = folder
  }
  return {
    makeFor: (index) => make(parentOf(placeOf(index))),
    // Cut by hand: path.join and path.dirname cost as much here as the calls to the system.
    addressOf(index) {
      const place = placeOf(index)
      make(parentOf(place))
      return all.at(`${run}/${place}`)
    },
  }
}
