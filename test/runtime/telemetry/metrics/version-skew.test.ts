import t from 'tap'
import { countSkews } from '../../../../runtime/telemetry/metrics/version-skew.ts'

void t.test('agents are counted by their version relative to the controller', async (t) => {
  const theirs = ['1.10.0', '1.10.0', '1.9.9', '1.10.1', '2.0.0', '0.99.99', 'latest', undefined, '', '1.10', '1.10.0-rc.1']
  t.strictSame(countSkews('1.10.0', theirs), { same: 3, older: 2, newer: 2, unknown: 4 })
})

void t.test('without agents every count is zero', async (t) => {
  t.strictSame(countSkews('1.0.0', []), { same: 0, older: 0, newer: 0, unknown: 0 })
})
