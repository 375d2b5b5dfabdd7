import t from 'tap'
import { createReclaimer } from '../../../runtime/collections/gate/collect-garbage.ts'

const mib = 1024 * 1024

void t.test('is collected once two megabytes more are in use than at the least', async (t) => {
  let used = 20 * mib
  let collections = 0
  const reclaim = createReclaimer(
    () => {
      collections += 1
      used = 19 * mib
    },
    () => used,
  )
  for (const [now, wanted] of [
    [20, 0],
    [16, 0],
    [17.9, 0],
    [18, 1],
    [20.9, 1],
    [21, 2],
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
