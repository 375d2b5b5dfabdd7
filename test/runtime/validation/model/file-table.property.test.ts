import fc from 'fast-check'
import t from 'tap'
import type { FileEntry } from '../../../../runtime/validation/model/listing.ts'
import { FileTable } from '../../../../runtime/validation/model/file-table.ts'

const name = fc.constantFrom('a', 'ab', 'a b', 'é', '\u{1F600}', 'x\ny', 'b')
const path = fc.array(name, { minLength: 2, maxLength: 4 }).map((names) => names.join('/'))
const id = fc.option(
  fc.constantFrom('1', '2', 'f').chain((digit) => fc.constantFrom(digit.repeat(40), digit.repeat(64), `${digit}-own`)),
  { nil: undefined },
)
const entry = fc.tuple(path, id).map(([path, id]): FileEntry => (id === undefined ? { path } : { path, id }))
const byPath = (a: FileEntry, b: FileEntry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
const sameAs = (files: readonly FileEntry[], expected: readonly FileEntry[]): boolean =>
  JSON.stringify(files.toSorted(byPath)) === JSON.stringify(expected.toSorted(byPath))

void t.test('after any changes the list and each folder match a map', async () => {
  const change = fc.oneof(
    entry.map((put) => ({ put, path: put.path })),
    path.map((path) => ({ put: undefined, path })),
  )
  fc.assert(
    fc.property(
      fc.uniqueArray(entry, { selector: ({ path }) => path, maxLength: 12 }),
      fc.array(change, { maxLength: 20 }),
      (start, changes) => {
        const expected = new Map(start.map((each) => [each.path, each]))
        const files = FileTable.of(start.toSorted(byPath))
        for (const { put, path } of changes) {
          if (put === undefined) {
            expected.delete(path)
            files.remove(path)
          } else {
            expected.set(path, put)
            files.put(put)
          }
        }
        const all = [...expected.values()]
        const folders = new Set(all.flatMap(({ path }) => path.split('/').map((_, end, names) => names.slice(0, end + 1).join('/'))))
        return (
          files.length === all.length &&
          sameAs(files.entries(), all) &&
          all.every(({ path }) => files.has(path)) &&
          [...folders].every((folder) =>
            sameAs(
              files.entriesBelow(folder),
              all.filter(({ path }) => path.startsWith(`${folder}/`)),
            ),
          )
        )
      },
    ),
    { numRuns: 500 },
  )
})

void t.test('the list grows beyond its initial capacity', async (t) => {
  const files = FileTable.of([])
  const entries = Array.from({ length: 3_000 }, (_, index) => ({ path: `folder ${index % 7}/file ${index}`, id: 'a'.repeat(40) }))
  for (const each of entries) files.put(each)
  t.ok(sameAs(files.entries(), entries))
})

void t.test('a batch of changes gives the same list as single changes', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(entry, { selector: ({ path }) => path, maxLength: 12 }),
      fc.uniqueArray(entry, { selector: ({ path }) => path, maxLength: 12 }),
      fc.infiniteStream(fc.boolean()),
      (start, changes, isGone) => {
        const marked = changes.map((change) => ({ change, gone: isGone.next().value }))
        const gone = marked.filter((each) => each.gone).map(({ change: { path } }) => path)
        const puts = marked.filter((each) => !each.gone).map(({ change }) => change)
        const one = FileTable.of(start)
        for (const path of gone) one.remove(path)
        for (const put of puts) one.put(put)
        return JSON.stringify(FileTable.of(start).merged(gone, puts).entries()) === JSON.stringify(one.entries())
      },
    ),
  )
})
