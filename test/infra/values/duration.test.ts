/**
 * Durations as numbers.
 */
import t from 'tap'
import { millisecondsOf } from '../../../infra/values/duration.ts'

void t.test('a duration is the sum of its units', async (t) => {
  const durations: Record<string, number> = {
    '': 0,
    '0': 0,
    '7ms': 7,
    '1m30s': 90_000,
    '1h': 3_600_000,
    '1d': 86_400_000,
    '1w': 604_800_000,
    '1y': 31_536_000_000,
    '1y2w3d4h5m6s7ms': 31_536_000_000 + 1_209_600_000 + 259_200_000 + 14_400_000 + 300_000 + 6_000 + 7,
  }
  for (const [duration, ms] of Object.entries(durations)) t.equal(millisecondsOf(duration), ms, JSON.stringify(duration))
})
