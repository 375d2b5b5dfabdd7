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
import type { Kept } from './delivered.ts'

/** The complete state of validation: verdicts by `verdictKey` and buffers that can be moved to another thread. */
export type GateMemory = {
  verdicts: ReadonlyMap<string, Verdict>
  /** One per content, in the order of `rest`. */
  tables: readonly PackedTable[]
  rest: ArrayBuffer
}

type Contents = readonly (readonly [key: string, kept: Kept])[]
type Bare = Omit<Kept, 'files' | 'projects'> & { seen: SeenOfProjects }
/** The content of `rest`. */
type Rest = readonly (readonly [key: string, kept: Bare])[]

/** The contents must not be used again. */
export function pack(verdicts: ReadonlyMap<string, Verdict>, contents: Contents): GateMemory {
  const rest: Rest = contents.map(([key, kept]) => [key, bareOf(kept)])
  // Separate buffers, which can be moved.
  return { verdicts, tables: contents.map(([, { files }]) => files.pack()), rest: new Uint8Array(serialize(rest)).buffer }
}

/** The input of `pack`; the memory must not be used again. */
export function takeOver({ verdicts, tables, rest }: GateMemory): { verdicts: Map<string, Verdict>; contents: Contents } {
  return {
    verdicts: new Map(verdicts),
    contents: (deserialize(new Uint8Array(rest)) as Rest).flatMap(([key, { seen, ...kept }], index) => {
      const table = tables[index]
      if (table === undefined) return []
      return [[key, { ...kept, projects: createProjectFinder(seen), files: FileTable.unpack(table) }] as const]
    }),
  }
}

/** The buffers to move when a memory is posted. */
export function buffersOf({ tables, rest }: GateMemory): ArrayBuffer[] {
  return [rest, ...tables.flatMap(({ bytes, ends }) => [bytes, ends])]
}

function bareOf({ commit, settings, roots, projectRoots, projects, learned }: Kept): Bare {
  const bare = [...learned].map(([root, remembered]) => [root, withoutTree(remembered)] as const)
  return { commit, settings, roots, projectRoots, seen: projects.seen(), learned: new Map(bare) }
}

function withoutTree(remembered: Remembered | undefined): Remembered | undefined {
  return remembered === undefined ? undefined : { ...remembered, treeFindings: undefined }
}
