/**
 * What was found on disk, as data for the plan. Pure.
 */
import type { BlobId } from '../../content/protocol/protocol.ts'
import { parentOf } from '../../api/values.ts'
import type { FileStat } from '../model/manifest.ts'

/** What exists at a path now. `id` is the hash of the content if it had to be read, null if it could not be. */
export type Observed =
  | { kind: 'absent'; topmost: string }
  | { kind: 'file'; stat: FileStat; exec: boolean; id: BlobId | null | undefined }
  | { kind: 'folder'; files: readonly string[] }
  /** Neither file nor folder, at the path itself or at its parent folder `at`. */
  | { kind: 'special'; at: string; what: 'link' | 'special' }
  /** `spelled`: how the path of an owned file names the same file, on a volume that folds names. */
  | { kind: 'under-file'; file: string; spelled?: string }

export type Observations = {
  /** Undefined: not inspected. */
  get(path: string): Observed | undefined
  set(path: string, seen: Observed): void
  /** All but what is below missing folders. */
  entries(): Iterable<[string, Observed]>
}

/** Everything below a missing folder is absent: it is stored once, not for each of the thousands of files of a first sync. */
export function createObservations(): Observations {
  const seenAt = new Map<string, Observed>()
  const absent = new Map<string, Observed>()
  let latest: { prefix: string; seen: Observed } | undefined
  const below = (path: string): Observed | undefined => {
    if (latest !== undefined && path.startsWith(latest.prefix)) return latest.seen
    for (let folder = absent.size === 0 ? '' : parentOf(path); folder !== ''; folder = parentOf(folder)) {
      const seen = absent.get(folder)
      if (seen === undefined) continue
      latest = { prefix: `${folder}/`, seen }
      return seen
    }
    return undefined
  }
  return {
    get: (path) => (seenAt.size === 0 ? undefined : seenAt.get(path)) ?? below(path),
    set(path, seen) {
      if (seen.kind !== 'absent' || seen.topmost === path) {
        seenAt.set(path, seen)
        return
      }
      seenAt.delete(path)
      if (latest?.seen === seen) return
      absent.set(seen.topmost, seen)
      latest = { prefix: `${seen.topmost}/`, seen }
    },
    entries: () => seenAt.entries(),
  }
}
