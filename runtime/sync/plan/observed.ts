/**
 * What was seen on disk at one path, as data for the plan. Pure.
 */
import type { BlobId } from '../../delivery/protocol.ts'
import type { FileStat } from '../model/manifest.ts'

/** What stands at a path now. `id` is the hash of the content where it had to be read, null where it could not be. */
export type Observed =
  | { kind: 'absent'; topmost: string }
  | { kind: 'file'; stat: FileStat; exec: boolean; id: BlobId | null | undefined }
  | { kind: 'folder'; files: readonly string[] }
  /** Neither file nor folder, at the path itself or at the folder `at` above it. */
  | { kind: 'special'; at: string; what: 'link' | 'special' }
  /** `spelled`: how the path of a file of ours names the same file, on a volume that folds names. */
  | { kind: 'under-file'; file: string; spelled?: string }
