/**
 * What the gate keeps of earlier commits, within bounds: the latest of each line and coverage, the ones in use longest.
 */
import type { Kept } from './delivered.ts'

/** Some 200 bytes each, with what was found in them. A larger repository is judged from its full list each time. */
const maxFiles = 40_000
/** Most hold no file at all, for their repositories have no collections. */
const maxContents = 1_000

/** What is kept by line and coverage. */
export type KeptContents = {
  /** Takes it out: what is changed while a commit is judged is kept again only when that went well. */
  take(key: string): Kept | undefined
  set(key: string, kept: Kept): void
  /** Takes out everything, in the order in which it was kept. */
  takeAll(): [key: string, kept: Kept][]
}

/** Keeps 40,000 files and 1,000 contents at most; what was used longest ago goes first. `before`: what another cache gave away. */
export function createKeptContents(before: Iterable<readonly [key: string, kept: Kept]> = []): KeptContents {
  const contents = new Map<string, Kept>()
  let files = 0
  const take = (key: string): Kept | undefined => {
    const kept = contents.get(key)
    contents.delete(key)
    files -= kept?.files.length ?? 0
    return kept
  }
  const set = (key: string, kept: Kept): void => {
    take(key)
    if (kept.files.length > maxFiles) return
    contents.set(key, kept)
    files += kept.files.length
    for (const oldest of contents.keys()) {
      if (files <= maxFiles && contents.size <= maxContents) return
      take(oldest)
    }
  }
  for (const [key, kept] of before) set(key, kept)
  return {
    take,
    set,
    takeAll() {
      const all = [...contents]
      contents.clear()
      files = 0
      return all
    },
  }
}
