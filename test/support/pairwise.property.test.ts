import fc from 'fast-check'
import t from 'tap'
import { allPairs, hasPair, type Pair, pairwise, type Row } from './pairwise.ts'

/** All possible rows, for few names. */
function everyRow(names: readonly string[]): Row[] {
  return names.reduce<Row[]>((rows, name) => rows.flatMap((row) => [true, false].map((value) => ({ ...row, [name]: value }))), [{}])
}

const cases = fc.integer({ min: 3, max: 7 }).chain((count) => {
  const names = Array.from({ length: count }, (_, index) => `n${index}`)
  return fc.record({ names: fc.constant(names), refused: fc.subarray(allPairs(names), { maxLength: 8 }) })
})

void t.test('rows cover every possible pair, contain no refused pair, and set every name', async (t) => {
  fc.assert(
    fc.property(cases, ({ names, refused }) => {
      const allowed = (row: Row): boolean => !refused.some((pair) => hasPair(row, pair))
      const possible = everyRow(names).filter(allowed)
      const rows = pairwise(names, refused)
      const desired = allPairs(names).filter((pair: Pair) => possible.some((row) => hasPair(row, pair)))
      return (
        rows.every((row) => allowed(row) && Object.keys(row).join() === names.join()) &&
        desired.every((pair) => rows.some((row) => hasPair(row, pair)))
      )
    }),
  )
  t.pass()
})

void t.test('twenty settings need at most 14 rows', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
  const rows = pairwise(names, [])
  t.ok(rows.length <= 14, `${rows.length} rows`)
})
