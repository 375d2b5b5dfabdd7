/**
 * Tests that for any commits and mappings a sufficient difference gives the same desired tree as a listing.
 */
import fc from 'fast-check'
import t from 'tap'
import type { BlobId, Change } from '../../../../runtime/content/protocol/protocol.ts'
import { parseRelativePath } from '../../../../runtime/api/values.ts'
import { desiredDelta, type DesiredFile, desiredTree } from '../../../../runtime/sync/desired/desired-tree.ts'
import { resolveMappings } from '../../../../runtime/sync/desired/mappings.ts'
import type { Owned } from '../../../../runtime/sync/model/manifest.ts'
import { profileOf } from '../../../support/memory-source.ts'

type Put = Extract<Change, { op: 'put' }>
type Commit = ReadonlyMap<string, string>

const put = ([path, content]: readonly [string, string]): Put => ({
  op: 'put',
  path: parseRelativePath(path),
  mode: content === 'x' ? '100755' : '100644',
  id: content.repeat(40) as BlobId,
  size: 1,
})

const file = fc.tuple(fc.constantFrom('base', 'over', 'base/deep', 'extra'), fc.constantFrom('a', 'b', 'c')).map((names) => names.join('/'))
const commit: fc.Arbitrary<Commit> = fc
  .dictionary(file, fc.constantFrom('1', '2', 'x'), { minKeys: 1, maxKeys: 8 })
  .map((files) => new Map(Object.entries(files)))
const mapping = fc.record({
  source: fc.constantFrom('base', 'over', 'base/deep', 'extra'),
  destination: fc.constantFrom('projects', 'projects/deep', 'config'),
  required: fc.constant(false),
  excludePatterns: fc.constantFrom<string[]>([], [], ['a']),
})
const mappings = fc.array(mapping, { minLength: 1, maxLength: 3 }).map((all) => resolveMappings(profileOf(all), [], (text) => text))

function treeOf(given: ReturnType<typeof resolveMappings>, listing: readonly Put[]) {
  const tree = desiredTree(given)
  for (const entry of listing) tree.add(entry)
  return tree.finish()
}

function ownedBy(files: ReadonlyMap<string, DesiredFile>): Map<string, Owned> {
  const stat = { size: 1, mtimeMs: 0, ino: 0, mode: 0o644 }
  const entry = ({ id, exec, mapping: index }: DesiredFile): Owned => ({
    id,
    exec,
    mapping: index,
    stat,
    rendered: undefined,
    driftVerdict: undefined,
  })
  return new Map([...files].map(([path, one]) => [path, entry(one)]))
}

function differences(before: Commit, after: Commit): Change[] {
  const gone = [...before.keys()]
    .filter((path) => !after.has(path))
    .map((path): Change => ({ op: 'delete', path: parseRelativePath(path) }))
  return [...gone, ...[...after].filter(([path, content]) => before.get(path) !== content).map(put)]
}

const facts = (files: Iterable<Pick<DesiredFile, 'path' | 'id' | 'exec' | 'mapping'>>): string =>
  JSON.stringify(
    [...files].toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, id, exec, mapping: index }) => [path, id, exec, index]),
  )

void t.test('a difference leads from the tree of one commit to that of the other', async (t) => {
  let sufficed = 0
  fc.assert(
    fc.property(mappings, commit, commit, (given, before, after) => {
      const was = treeOf(given, [...before].map(put))
      const should = treeOf(given, [...after].map(put))
      const present = { files: ownedBy(was.files), absent: was.absent, collectionsRoot: undefined }
      const delta = desiredDelta(differences(before, after), given, present)
      if (delta.kind === 'needs-listing') return true
      sufficed += 1
      const files = new Map<string, DesiredFile>([...was.files, ...delta.puts])
      for (const path of delta.removed) files.delete(path)
      return facts(files.values()) === facts(should.files.values())
    }),
    { numRuns: 3_000 },
  )
  t.ok(sufficed > 300, `the difference sufficed ${sufficed} times`)
})

void t.test('the order of a listing does not matter', async () => {
  fc.assert(
    fc.property(mappings, commit, (given, files) => {
      const listing = [...files].map(put)
      return facts(treeOf(given, listing).files.values()) === facts(treeOf(given, listing.toReversed()).files.values())
    }),
    { numRuns: 500 },
  )
})

void t.test('every desired file belongs to a mapping and lies below its destination', async () => {
  fc.assert(
    fc.property(mappings, commit, (given, files) =>
      [...treeOf(given, [...files].map(put)).files.values()].every(({ path, mapping: index }) =>
        path.startsWith(`${given[index]?.destination ?? '?'}/`),
      ),
    ),
    { numRuns: 500 },
  )
})
