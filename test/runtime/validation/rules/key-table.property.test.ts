import fc from 'fast-check'
import t from 'tap'
import { createKeyTable } from '../../../../runtime/validation/rules/key-table.ts'

void t.test('a name is found again despite slot collisions', async (t) => {
  const name = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 100 }).map(String))
  fc.assert(
    fc.property(fc.array(name, { minLength: 200, maxLength: 500 }), fc.integer({ min: 1, max: 500 }), (names, count) => {
      // A table created for few names is full at once, as with names chosen to collide.
      const table = createKeyTable(count, (at) => names[at] ?? '')
      const latest = new Map<string, number>()
      for (const [at, name] of names.entries()) {
        if (table.put(name, at) !== (latest.get(name) ?? -1)) return false
        latest.set(name, at)
      }
      return true
    }),
  )
  t.pass('as a Map finds it')
})

void t.test('names are not kept: they are computed again for a repeated name, and for one with the same hash', async (t) => {
  // FNV-1a of both is 5E4DAA9D.
  const names = ['costarring', 'liquid', 'costarring', 'liquid', 'other']
  const computed: number[] = []
  const table = createKeyTable(names.length, (at) => {
    computed.push(at)
    return names[at] ?? ''
  })
  t.strictSame(
    names.map((name, at) => table.put(name, at)),
    [-1, -1, 0, 1, -1],
  )
  t.strictSame(computed, [0, 0, 2, 1])
})
