/**
 * Kubernetes quantities as numbers.
 */
import t from 'tap'
import { amountOf } from '../../../runtime/api/quantity.ts'

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
