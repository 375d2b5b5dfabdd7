/**
 * Tests that exactly the paths that cannot coexist are found, for any paths.
 */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { foldName, parentOf } from '../../../../runtime/api/values.ts'
import { describeCollision, findPathCollisions } from '../../../../runtime/sync/plan/path-collisions.ts'

const name = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä', 'a\u0308', 'c.json')
const paths = fc.uniqueArray(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
  { maxLength: 6 },
)

function foldersOf(path: string): string[] {
  const parent = parentOf(path)
  return parent === '' ? [] : [parent, ...foldersOf(parent)]
}

/** A reference implementation of the definition. */
function isFree(all: readonly string[]): boolean {
  const folders = [...new Set(all.flatMap(foldersOf))]
  const entries = [...all.map((path) => ({ path, kind: 'file' })), ...folders.map((path) => ({ path, kind: 'folder' }))]
  return new Set(entries.map(({ path }) => foldName(path))).size === entries.length
}

void t.test('conflicts are exactly paths that fold to one name, and files that are also folders', async () => {
  fc.assert(
    fc.property(paths, (all) => {
      deepStrictEqual(findPathCollisions({ each: () => all, has: (path) => all.includes(path) }).length === 0, isFree(all))
    }),
    { numRuns: 2_000 },
  )
})

void t.test('a conflict is described with both paths, and letters that look alike by their code points', (t) => {
  const describe = (...all: string[]) => findPathCollisions({ each: () => all, has: (path) => all.includes(path) }).map(describeCollision)
  t.strictSame(describe('a', 'a/b'), ['"a" would be a file and a folder at once'])
  t.strictSame(describe('a/B', 'a/b'), [
    '"a/b" and "a/B" differ in case only; rename one, because the gateway and some volumes treat them as one',
  ])
  t.strictSame(describe('a\u0308', 'ä'), [
    'two spellings of "ä" differ only in how Unicode composes their letters (U+00E4, U+0308); rename one, because some volumes treat them as one',
  ])
  t.end()
})
