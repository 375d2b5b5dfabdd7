import t from 'tap'
import { createReclaimer } from '../../../runtime/collections/gate/collect-garbage.ts'

const mib = 1024 * 1024

void t.test('is collected once a megabyte more is in use than at the least, or a sixteenth of much', async (t) => {
  let used = 20 * mib
  let collections = 0
  const reclaim = createReclaimer(
    () => {
      collections += 1
      used = 48 * mib
    },
    () => used,
  )
  for (const [now, wanted] of [
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
    t.equal(collections, wanted, `${now} MiB`)
  }
})

void t.test('without a collector nothing is looked at', async () => {
  const reclaim = createReclaimer(undefined, () => {
    throw new Error('looked at')
  })
  reclaim()
})
