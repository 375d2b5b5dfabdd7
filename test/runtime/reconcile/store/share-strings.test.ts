/**
 * Tests that equal strings and small objects are stored once. JavaScript cannot show whether two equal strings are shared, so the test
 * measures memory.
 */
import fc from 'fast-check'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createSharing } from '../../../../runtime/reconcile/store/share-strings.ts'

void t.test('sharing keeps objects equal to their originals', async () => {
  const share = createSharing(3)
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (record) => {
      const before = JSON.stringify(record)
      share(record)
      return JSON.stringify(record) === before
    }),
  )
})

void t.test('a thousand objects with one long text store it once', async (t) => {
  const text = 'x'.repeat(40_000)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const usedMiB = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 1024 / 1024
  }
  const share = createSharing()
  const before = usedMiB()
  const records = Array.from({ length: 1_000 }, () => {
    const record = { status: { delivery: [Buffer.from(text).toString('latin1')] } }
    share(record)
    return record
  })
  const more = usedMiB() - before
  t.ok(more < 10, `${more.toFixed(1)} MiB for ${records.length} objects, of 38`)
})

void t.test('equal flat objects become one, and a member with the value undefined makes a difference', async (t) => {
  const share = createSharing()
  const made = (labels: object) => {
    const record = { pod: { labels, more: [labels] } }
    share(record)
    return record.pod.labels
  }
  const first = made({ line: 'a', of: 3, is: true, none: null })
  t.equal(made({ line: 'a', of: 3, is: true, none: null }), first)
  t.not(made({ line: 'b', of: 3, is: true, none: null }), first)
  t.not(made({ line: 'a', of: 3, is: true, none: null, more: undefined }), first)
  t.not(made({ ...first, inner: {} }), made({ ...first, inner: {} }))
})
