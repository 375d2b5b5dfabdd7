/**
 * Writes blobs as they stream in, verified, into a run's folder: outside of everything that a gateway reads but on the same file system, so
 * that publishing takes only renames.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BlobId, BlobSink } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import { diskFault, errorCode, folderMaker, type Ownership, withDiskFault } from '../disk/disk.ts'
import type { Folders } from '../disk/folders.ts'
import type { FileStat } from '../model/manifest.ts'
import type { PlannedPut } from '../plan/plan.ts'
import { blobsOf } from './blobs-of.ts'
import { createReceiver, type ReceiverOptions, type Staged } from './receive-blobs.ts'
import { createStageFolders } from './stage-folders.ts'

/** How many folders are made before the event loop turns again; 100 take about 1 ms. */
const slice = 100

/** Receives the content of one run: give `ids` to the source, with `sink`, then call `finish`. */
export type Stage = {
  sink: BlobSink
  ids: BlobId[]
  /** By index in the plan's `puts`; complete when it is finished. */
  staged: Staged
  /** Makes all folders, with turns of the event loop in between. Optional: otherwise each folder is made with its first file. */
  makeFolders(signal: AbortSignal): Promise<void>
  /** Throws DeliveryFailed when a blob never came, and what the sink throws. */
  finish(): void
  /** Closes a file that is half written. */
  abandon(): void
}

/** One run's folder, and how its files are made. */
export type StageOptions = Pick<ReceiverOptions, 'ownership' | 'needsRender' | 'render' | 'inspect'> & {
  /** The run's folder, and all folders by which it is reached. */
  run: string
  folders: Folders
  puts: readonly PlannedPut[]
  /** The path below the run's folder, by index in `puts`. */
  placeOf(index: number): string
  /** Folders below the run's folder that are there already; those that are made are added. */
  made?: Set<string>
  /** What is staged already, by index in `puts`: it is not asked for. */
  present?: readonly (FileStat | undefined)[]
  /** Told of each content that has arrived, and of how many are asked for. */
  arrived?(done: number, total: number): void
}

/** The sink throws DeliveryFailed for content that was not asked for or is damaged, TemplateFailed, and faults of the disk. */
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

/** Creates the folder of a run. Throws EEXIST as it is, for a run's id is random, and faults of the disk. */
export function createRunFolder(address: string, ownership: Ownership): void {
  try {
    folderMaker(ownership)(address)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? error : diskFault(error, '.cluster-sync')
  }
}
