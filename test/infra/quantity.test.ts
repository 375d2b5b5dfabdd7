/**
 * Quantities and durations as numbers.
 */
import t from 'tap'
import { amountOf, millisecondsOf } from '../../infra/quantity.ts'

void t.test('a quantity is its number times its suffix', async (t) => {
  const amounts: Record<string, number> = {
    '0': 0,
    '1.5': 1.5,
    '.5': 0.5,
    '5.': 5,
    '100m': 0.1,
    '250u': 0.00025,
    '4n': 4e-9,
    '2k': 2000,
    '128M': 128e6,
    '128e6': 128e6,
    '128E6': 128e6,
    '5e-1': 0.5,
    '1E': 1e18,
    '1P': 1e15,
    '3T': 3e12,
    '1Ki': 1024,
    '64Mi': 67_108_864,
    '2Gi': 2_147_483_648,
    '1Ti': 2 ** 40,
    '1Pi': 2 ** 50,
    '1Ei': 2 ** 60,
  }
  for (const [quantity, amount] of Object.entries(amounts)) t.equal(amountOf(quantity), amount, quantity)
  for (const wrong of ['', '.', '1 Mi', '1mi', '1K', '1MB', '-1', 'NaN']) t.ok(Number.isNaN(amountOf(wrong)), JSON.stringify(wrong))
})

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
