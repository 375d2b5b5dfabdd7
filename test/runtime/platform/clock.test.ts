import t from 'tap'
import { backoffMs, spreadBackoffMs } from '../../../runtime/platform/clock.ts'

void t.test('backoff doubles up to its maximum for any number of failures', async (t) => {
  t.strictSame(
    [1, 2, 3, 4, 1_000].map((failures) => backoffMs(failures, 500, 3_000, 0.5)),
    [500, 1_000, 2_000, 3_000, 3_000],
  )
  t.strictSame(
    [0, 1].map((random) => backoffMs(1, 500, 3_000, random)),
    [450, 550],
    'give or take a tenth',
  )
})

void t.test('spread backoff distributes simultaneous retries over the whole wait', async (t) => {
  t.strictSame(
    [0, 0.25, 0.5, 1].map((random) => spreadBackoffMs(2, 800, 30_000, random)),
    [0, 400, 800, 1_600],
  )
})
