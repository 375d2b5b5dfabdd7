/**
 * The state of validation, so that its thread can end while there are no pushes, and the next one continues from it: its verdicts, which
 * need no thread, and its data about contents, as bytes. The lists of files are moved; the rest is small, and as bytes it takes a fraction
 * of its size as objects. Facts that follow from names alone are left out, because the lists contain them.
 */
import { deserialize, serialize } from 'node:v8'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import type { Remembered } from './incremental-cache.ts'
import { FileTable } from '../model/file-table.ts'
import type { PackedTable } from '../model/packed-files.ts'
import { createProjectFinder, type SeenOfProjects } from '../model/projects.ts'
import type { CacheEntry } from '../../platform/async/fair-cache.ts'
import type { Kept } from './delivered.ts'

/** The complete state of validation: verdicts by `verdictKey` and buffers that can be moved to another thread. */
export type ValidationMemory = {
  verdicts: ReadonlyMap<string, CacheEntry<Verdict>>
  /** One per content, in the order of `rest`. */
  tables: readonly PackedTable[]
  rest: ArrayBuffer
}

type Contents = readonly CacheEntry<Kept>[]
type Bare = Omit<Kept, 'files' | 'projects'> & { seen: SeenOfProjects }
/** The content of `rest`. */
type Rest = readonly CacheEntry<Bare>[]

/** The contents must not be used again. */
export function pack(verdicts: Iterable<CacheEntry<Verdict>>, contents: Contents): ValidationMemory {
  const rest: Rest = contents.map((entry) => ({ ...entry, value: bareOf(entry.value) }))
  // Separate buffers, which can be moved.
  const byKey = new Map([...verdicts].map((entry) => [entry.key, entry]))
  return { verdicts: byKey, tables: contents.map(({ value: { files } }) => files.pack()), rest: new Uint8Array(serialize(rest)).buffer }
}

/** The input of `pack`; the memory must not be used again. */
export function takeOver({ verdicts, tables, rest }: ValidationMemory): { verdicts: readonly CacheEntry<Verdict>[]; contents: Contents } {
  return {
    verdicts: [...verdicts.values()],
    contents: (deserialize(new Uint8Array(rest)) as Rest).flatMap(({ value: { seen, ...kept }, ...entry }, index) => {
      const table = tables[index]
      if (table === undefined) return []
      return [{ ...entry, value: { ...kept, projects: createProjectFinder(seen), files: FileTable.unpack(table) } }]
    }),
  }
}

/** The buffers to move when a memory is posted. */
export function buffersOf({ tables, rest }: ValidationMemory): ArrayBuffer[] {
  return [rest, ...tables.flatMap(({ bytes, ends }) => [bytes, ends])]
}

function bareOf({ commit, settings, roots, projectRoots, projects, learned }: Kept): Bare {
  const bare = [...learned].map(([root, remembered]) => [root, withoutTree(remembered)] as const)
  return { commit, settings, roots, projectRoots, seen: projects.seen(), learned: new Map(bare) }
}

function withoutTree(remembered: Remembered | undefined): Remembered | undefined {
  return remembered === undefined ? undefined : { ...remembered, treeFindings: undefined }
}
