import fc from 'fast-check'
import t from 'tap'
import { createKeyTable } from '../../../runtime/collections/key-table.ts'

void t.test('a table without keys finds what a map of keys would', async (t) => {
  const key = fc.oneof(
    fc.constantFrom('', 'a', 'b', 'ignition/tag-provider/line', 'ignition/tag-provider/line 2'),
    fc.string({ maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
      const table = createKeyTable(keys.length, (at) => keys[at] ?? '')
      const map = new Map<string, number>()
      return keys.every((each, at) => {
        const earlier = map.get(each) ?? -1
        map.set(each, at)
        return table.put(each, at) === earlier
      })
    }),
  )
  t.pass()
})
