import t from 'tap'
import { createReclaimer } from '../../../../runtime/validation/run/collect-garbage.ts'

const mib = 1024 * 1024

void t.test('garbage is collected once usage grows by a megabyte, or by a sixteenth if that is more', async (t) => {
  let used = 20 * mib
  let collections = 0
  const reclaim = createReclaimer(
    () => {
      collections += 1
      used = 48 * mib
    },
    () => used,
  )
  for (const [now, expected] of [
    [20, 0],
    [16, 0],
    [12, 0],
    [12.9, 0],
    [13, 1],
    [50.9, 1],
    [51, 2],
  ] as const) {
    used = now * mib
    reclaim()
    t.equal(collections, expected, `${now} MiB`)
  }
})

void t.test('without a collector the heap size is not read', async (t) => {
  const reclaim = createReclaimer(undefined, () => {
    throw new Error('looked at')
  })
  t.doesNotThrow(reclaim)
})
