import fc from 'fast-check'
import t from 'tap'
import { findCycles, shownCycle } from '../../../../runtime/validation/rules/cycles.ts'

const cyclesOf = (refers: Readonly<Record<string, readonly string[]>>) => findCycles(Object.keys(refers), (name) => refers[name] ?? [])

void t.test('a cycle is found once and begins with its first name, wherever the search meets it', async (t) => {
  t.strictSame(cyclesOf({ a: ['b'], b: ['c'], c: [] }), [])
  t.strictSame(cyclesOf({ a: ['a'] }), [['a']])
  t.strictSame(cyclesOf({ b: ['a'], a: ['b'] }), [['a', 'b']])
  t.strictSame(cyclesOf({ a: ['c'], c: ['b'], b: ['c'] }), [['b', 'c']], 'behind another name')
  t.strictSame(cyclesOf({ a: ['d'], d: ['c'], c: ['b'], b: ['d'] }), [['b', 'd', 'c']])
  t.strictSame(cyclesOf({ a: ['b', 'c'], b: ['a'], c: ['a'] }), [
    ['a', 'b'],
    ['a', 'c'],
  ])
  t.strictSame(cyclesOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }), [], 'two ways to one name')
  t.strictSame(cyclesOf({ a: ['b'], b: ['missing'] }), [], 'a name that does not exist')
})

void t.test('there is a cycle exactly if a name leads back to itself, and each goes from name to name', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const refers = fc
    .tuple(...names.map(() => fc.subarray(names)))
    .map((lists) => Object.fromEntries(names.map((name, at) => [name, lists[at] ?? []])))
  fc.assert(
    fc.property(refers, (next) => {
      const reach = (from: string, seen = new Set<string>()): Set<string> => {
        for (const way of next[from] ?? []) if (!seen.has(way)) reach(way, seen.add(way))
        return seen
      }
      const cycles = cyclesOf(next)
      t.equal(
        cycles.length > 0,
        names.some((name) => reach(name).has(name)),
      )
      const isLinked = (cycle: string[]) => cycle.every((name, at) => next[name]?.includes(cycle[(at + 1) % cycle.length] ?? ''))
      t.equal(
        cycles.every((cycle) => isLinked(cycle) && cycle[0] === cycle.toSorted()[0] && new Set(cycle).size === cycle.length),
        true,
      )
    }),
    { numRuns: 100 },
  )
})

void t.test('a cycle is shown closed, with at most ten names of at most 80 characters', async (t) => {
  t.equal(shownCycle(['a']), 'a -> a')
  t.equal(shownCycle(['a', 'b']), 'a -> b -> a')
  const ten = 'abcdefghij'.split('')
  t.equal(shownCycle(ten), `${ten.join(' -> ')} -> a`)
  t.equal(shownCycle([...ten, 'k']), `${ten.join(' -> ')} -> … -> a`)
  t.equal(shownCycle(['x'.repeat(81)]), `${'x'.repeat(80)} -> ${'x'.repeat(80)}`)
})
