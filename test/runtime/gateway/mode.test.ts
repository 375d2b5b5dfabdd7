/**
 * How often a gateway is queried for its deployment mode: often while it is down or has no key yet, rarely while it runs without an answer.
 */
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault, type Reason } from '../../../runtime/platform/fault.ts'
import type { Gateway, GatewayStatus } from '../../../runtime/gateway/gateway.ts'
import { createModeFinder } from '../../../runtime/gateway/mode.ts'

const signal = new AbortController().signal

/** Counts the queries within a minute if the mode is looked up every half second. */
async function askedInAMinute(reason: Reason, status: GatewayStatus): Promise<number> {
  let [nowMs, asked] = [0, 0]
  const gateway = {
    info() {
      asked += 1
      throw new Fault(reason, 'no answer')
    },
    status: async () => status,
  } as unknown as Gateway
  const find = createModeFinder({ clock: { ...systemClock, monotonicMs: () => nowMs }, ignitionConf: () => undefined }, {})
  for (; nowMs < 60_000; nowMs += 500) t.strictSame(await find(gateway, signal), { name: '', from: 'None' })
  return asked
}

void t.test('the interval between mode queries depends on whether an answer can be expected soon', async (t) => {
  const rows: [string, Reason, GatewayStatus, number][] = [
    ['is down', 'GatewayUnreachable', 'unreachable', 60],
    ['takes too long', 'Timeout', 'unreachable', 60],
    ['starts', 'GatewayNotReady', 'starting', 60],
    ['is being commissioned', 'GatewayNotReady', 'commissioning', 60],
    ['runs, and gives no answer that can be used', 'GatewayNotReady', 'running', 1],
    ['knows no such key', 'GatewayUnauthorized', 'running', 1],
    ['has a key that nobody has made yet', 'SecretNotFound', 'running', 6],
    ['has a key that the controller cannot hand out now', 'TooManyRequests', 'running', 6],
  ]
  for (const [what, reason, status, times] of rows) t.equal(await askedInAMinute(reason, status), times, what)
})
