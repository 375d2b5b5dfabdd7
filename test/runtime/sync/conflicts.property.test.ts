/**
 * Paths that cannot both exist are found whatever they are, and none where there are none.
 */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { foldName, parentOf } from '../../../runtime/gatewaysync/values.ts'
import { findConflicts } from '../../../runtime/sync/plan/conflicts.ts'

const name = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä', 'a\u0308', 'c.json')
const paths = fc.uniqueArray(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
  { maxLength: 6 },
)

function foldersOf(path: string): string[] {
  const parent = parentOf(path)
  return parent === '' ? [] : [parent, ...foldersOf(parent)]
}

/** By the definition, each pair by itself. */
function isFree(all: readonly string[]): boolean {
  const folders = [...new Set(all.flatMap(foldersOf))]
  const entries = [...all.map((path) => ({ path, kind: 'file' })), ...folders.map((path) => ({ path, kind: 'folder' }))]
  return new Set(entries.map(({ path }) => foldName(path))).size === entries.length
}

void t.test('conflicts are found where two paths fold to one, or a file is a folder too, and nowhere else', async () => {
  fc.assert(
    fc.property(paths, (all) => {
      deepStrictEqual(findConflicts({ each: () => all, has: (path) => all.includes(path) }).length === 0, isFree(all))
    }),
    { numRuns: 2_000 },
  )
})
