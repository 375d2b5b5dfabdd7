/**
 * Writes blobs to a run's folder as they stream in, verified: outside everything that a gateway reads but on the same file system, so
 * that applying takes only renames.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BlobId, BlobSink } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { diskFault, errorCode, folderMaker, type Ownership, withDiskFault } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'
import type { FileStat } from '../model/manifest.ts'
import type { PlannedPut } from '../plan/plan.ts'
import type { PutTarget, Targets } from './large-blobs.ts'
import { createReceiver, createStageFolders, type ReceiverOptions, type Staged } from './receive-blobs.ts'

/** Folders created between two yields to the event loop; 100 take about 1 ms. */
const slice = 100

/** Receives the content of one run: pass `ids` and `sink` to the source, then call `finish`. */
export type Stage = {
  sink: BlobSink
  ids: BlobId[]
  /** By index in the plan's `puts`; complete when it is finished. */
  staged: Staged
  /** Creates all folders, yielding to the event loop in between. Optional: otherwise each folder is created with its first file. */
  makeFolders(signal: AbortSignal): Promise<void>
  /** Throws DeliveryFailed if a blob is missing, and what the sink throws. */
  finish(): void
  /** Closes a half-written file. */
  abandon(): void
}

/** One run's folder, and how its files are created. */
export type StageOptions = Pick<ReceiverOptions, 'ownership' | 'needsRender' | 'render' | 'inspect'> & {
  /** The run's folder, and all of its parent folders. */
  run: string
  folders: Folders
  puts: readonly PlannedPut[]
  /** The path below the run's folder, by index in `puts`. */
  placeOf(index: number): string
  /** Folders below the run's folder that exist already; created ones are added. */
  made?: Set<string>
  /** What is staged already, by index in `puts`: it is not requested. */
  present?: readonly (FileStat | undefined)[]
  /** Called for each received content, with the number of requested ones. */
  arrived?(done: number, total: number): void
}

/** The sink throws DeliveryFailed for content that was not requested or is damaged, TemplateFailed, and faults of the disk. */
export function createStage(options: StageOptions): Stage {
  const { puts, present = [] } = options
  const { ids, targetsOf } = blobsOf(puts, present)
  const staged: Staged = { stats: Array.from(puts, (_put, index) => present[index]), rendered: new Map() }
  const folders = createStageFolders(options)
  const receiver = createReceiver({ ...options, folders, staged })
  let arrived = 0

  return {
    ids,
    staged,
    sink: {
      begin(id, size) {
        const targets = id === ids[arrived] ? targetsOf(arrived) : undefined
        if (targets === undefined) throw new Fault('DeliveryFailed', `an unexpected blob ${id} arrived`)
        receiver.begin(id, size, targets)
      },
      data: (chunk) => receiver.data(chunk),
      end() {
        receiver.end()
        arrived += 1
        options.arrived?.(arrived, ids.length)
      },
    },
    async makeFolders(signal) {
      for (const [index, { path }] of puts.entries()) {
        if (present[index] !== undefined) continue
        withDiskFault(() => folders.makeFor(index), path)
        if ((index + 1) % slice > 0) continue
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
    },
    abandon: () => receiver.abandon(),
    finish() {
      receiver.finish()
      const missing = ids[arrived]
      if (missing !== undefined) throw new Fault('DeliveryFailed', `${ids.length - arrived} blobs did not arrive, among them ${missing}`)
    },
  }
}

/** Creates the folder of a run. Throws EEXIST unchanged, for a run's id is random, and faults of the disk. */
export function createRunFolder(address: string, ownership: Ownership): void {
  try {
    folderMaker(ownership)(address)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? error : diskFault(error, '.cluster-sync')
  }
}

/**
 * Returns the blobs to request, each once, without those of files that are `present`; `targetsOf` returns the files for the blob at an
 * index of `ids`.
 */
function blobsOf(
  puts: readonly PlannedPut[],
  present: readonly (FileStat | undefined)[],
): { ids: BlobId[]; targetsOf(place: number): Targets | undefined } {
  const places = new Map<BlobId, number>()
  const firsts: number[] = []
  const others = new Map<number, number[]>()
  for (let index = 0; index < puts.length; index += 1) {
    const id = puts[index]?.id
    if (id === undefined || present[index] !== undefined) continue
    const place = places.get(id)
    if (place === undefined) {
      places.set(id, firsts.length)
      firsts.push(index)
      continue
    }
    const copies = others.get(place) ?? []
    copies.push(index)
    others.set(place, copies)
  }
  const targetAt = (index: number): PutTarget[] => {
    const put = puts[index]
    return put === undefined ? [] : [{ put, index }]
  }
  return {
    ids: [...places.keys()],
    targetsOf(place) {
      const index = firsts[place] ?? -1
      const put = puts[index]
      if (put === undefined) return undefined
      const copies = others.get(place)
      return copies === undefined ? [{ put, index }] : [{ put, index }, ...copies.flatMap(targetAt)]
    },
  }
}
