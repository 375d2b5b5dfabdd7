/**
 * What the gate keeps of earlier commits, within bounds: the latest of each line and delivery, the ones in use longest.
 */
import type { Kept } from './gate-content.ts'

/** Some 200 bytes each, with what was found in them. A larger repository is judged from its full list each time. */
const maxFiles = 40_000
/** Most hold no file at all, for their repositories have no collections. */
const maxContents = 1_000

export type KeptContents = {
  get(key: string): Kept | undefined /** Undefined: keep nothing. */
  set(key: string, kept: Kept | undefined): void
}

export function createKeptContents(): KeptContents {
  const contents = new Map<string, Kept>()
  let files = 0
  const drop = (key: string): void => {
    files -= contents.get(key)?.files.count ?? 0
    contents.delete(key)
  }
  return {
    get(key) {
      const kept = contents.get(key)
      if (kept !== undefined) {
        contents.delete(key)
        contents.set(key, kept)
      }
      return kept
    },
    set(key, kept) {
      drop(key)
      if (kept === undefined || kept.files.count > maxFiles) return
      contents.set(key, kept)
      files += kept.files.count
      for (const oldest of contents.keys()) {
        if (files <= maxFiles && contents.size <= maxContents) return
        drop(oldest)
      }
    },
  }
}
