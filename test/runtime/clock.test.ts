import t from 'tap'
import { backoffMs, spreadBackoffMs } from '../../runtime/clock.ts'

void t.test('waits double up to the longest, however often something failed', async (t) => {
  t.same(
    [1, 2, 3, 4, 1_000].map((failures) => backoffMs(failures, 500, 3_000, 0.5)),
    [500, 1_000, 2_000, 3_000, 3_000],
  )
  t.same(
    [0, 1].map((random) => backoffMs(1, 500, 3_000, random)),
    [450, 550],
    'give or take a tenth',
  )
})

void t.test('many who failed at once come back anywhere within the wait', async (t) => {
  t.same(
    [0, 0.25, 0.5, 1].map((random) => spreadBackoffMs(2, 800, 30_000, random)),
    [0, 400, 800, 1_600],
  )
})
