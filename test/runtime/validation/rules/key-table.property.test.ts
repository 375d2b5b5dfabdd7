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
