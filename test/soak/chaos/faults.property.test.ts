/**
 * A round has each fault once, and the same seed gives the same rounds.
 */
import fc from 'fast-check'
import t from 'tap'
import { randomFrom } from '../../support/seeded-random.ts'
import { faults, rounds } from './faults.ts'

const names = Object.keys(faults)
const take = (seed: number, count: number): string[] => rounds(names, randomFrom(seed, 'faults')).take(count).toArray()

void t.test('each round has every fault', (t) => {
  fc.assert(
    fc.property(fc.nat(), fc.nat({ max: 5 }), (seed, round) => {
      const own = take(seed, (round + 1) * names.length).slice(round * names.length)
      t.strictSame(own.toSorted(), names.toSorted())
    }),
    { numRuns: 20 },
  )
  t.end()
})

void t.test('the same seed gives the same order, another seed another order', (t) => {
  t.strictSame(take(7, 50), take(7, 50))
  t.strictNotSame(take(7, 50), take(8, 50))
  t.strictNotSame(take(7, 10), take(7, 20).slice(10), 'rounds differ')
  t.end()
})
