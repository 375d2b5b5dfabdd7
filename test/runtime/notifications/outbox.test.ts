/**
 * Tests pending messages: they are merged while they wait, retried with backoff, and dropped in the end.
 */
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { Outbox, type Delivery, type Tried } from '../../../runtime/notifications/outbox.ts'
import { SimulatedClock } from '../../support/simulated-clock.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'

const longMs = 60_000
const away: Tried = { kind: 'again', fault: new Fault('CommitStatusFailed', 'away') }

function open(
  t: Pick<typeof import('tap').default, 'teardown'>,
  send: (key: string, message: string, signal: AbortSignal) => Promise<Tried>,
  clock: Clock = systemClock,
) {
  const stop = new AbortController()
  const delivered: string[] = []
  const outbox = new Outbox<string>(
    {
      clock,
      send,
      join: (before, next) => `${before}+${next}`,
      delivered: (key, message, how: Delivery) => delivered.push(`${key} ${message} ${how.kind}`),
      gatherMs: 1,
      spacingMs: 1,
      firstRetryMs: 1,
    },
    stop.signal,
  )
  t.teardown(() => stop.abort())
  return { outbox, delivered, stop }
}

void t.test('messages for one recipient are merged while one is in flight, and sent one at a time', async (t) => {
  const gate = Promise.withResolvers<void>()
  const sent: string[] = []
  const { outbox, delivered } = open(t, async (key, message) => {
    sent.push(`${key} ${message}`)
    if (message === '1') await gate.promise
    return { kind: 'sent' }
  })
  outbox.put('a', '1')
  await until(() => sent.length === 1 || undefined, 'the first is under way', longMs)
  outbox.put('a', '2')
  outbox.put('a', '3')
  outbox.put('b', '1b')
  await until(() => sent.includes('b 1b') || undefined, 'another addressee does not wait', longMs)
  t.strictSame(sent, ['a 1', 'b 1b'])
  gate.resolve()
  await until(() => delivered.length === 3 || undefined, 'all are sent', longMs)
  t.strictSame(sent, ['a 1', 'b 1b', 'a 2+3'])
})

void t.test('the first message waits for the gather time, and each later one for the spacing between messages', async (t) => {
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const [waits, sent]: [number[], string[]] = [[], []]
  const outbox = new Outbox<string>(
    {
      clock: {
        ...clock,
        wait(ms, signal) {
          waits.push(ms)
          return clock.wait(ms, signal)
        },
      },
      send: async (_key, message) => {
        sent.push(message)
        return { kind: 'sent' }
      },
      join: (before, next) => `${before}+${next}`,
      delivered() {},
      gatherMs: 5_000,
      spacingMs: 30_000,
    },
    stop.signal,
  )
  outbox.put('a', '1')
  outbox.put('a', '2')
  t.strictSame([waits, sent], [[5_000], []])
  await step(5_000)
  t.strictSame([waits, sent], [[5_000, 30_000], ['1+2']])
  outbox.put('a', '3')
  outbox.put('a', '4')
  t.strictSame(sent, ['1+2'], 'what comes meanwhile waits')
  await step(30_000)
  t.strictSame(
    [waits, sent],
    [
      [5_000, 30_000, 30_000],
      ['1+2', '3+4'],
    ],
  )
})

void t.test('a failed message is merged with newer ones and dropped after ten attempts', async (t) => {
  const tries: string[] = []
  const { outbox, delivered } = open(t, async (_key, message) => {
    tries.push(message)
    if (tries.length === 1) outbox.put('a', '2')
    return away
  })
  outbox.put('a', '1')
  await until(() => delivered.at(-1)?.endsWith('dropped') || undefined, 'it is dropped', longMs)
  t.strictSame(tries, ['1', ...Array.from({ length: 9 }, () => '1+2')])
  t.strictSame(delivered.slice(0, 1), ['a 1 retried'])
  outbox.put('a', '3')
  await until(() => tries.length > 10 || undefined, 'the next one is tried anew', longMs)
  t.equal(tries[10], '3')
})

void t.test('a message that can never be delivered is dropped at once', async (t) => {
  const { outbox, delivered } = open(t, async () => ({ kind: 'never', fault: new Fault('CommitStatusRefused', 'no') }))
  outbox.put('a', '1')
  await until(() => delivered.length === 1 || undefined, 'it is dropped', longMs)
  t.strictSame(delivered, ['a 1 dropped'])
})

void t.test('concurrent calls, recipients and the shutdown are bounded', async (t) => {
  let [now, most] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const { outbox, delivered, stop } = open(t, async () => {
    most = Math.max(most, (now += 1))
    await gate.promise
    now -= 1
    return { kind: 'sent' }
  })
  for (let index = 0; index < 2_003; index += 1) outbox.put(`k${index}`, 'm')
  t.strictSame(delivered, ['k2000 m dropped', 'k2001 m dropped', 'k2002 m dropped'])
  await until(() => now === 4 || undefined, 'calls are under way', longMs)
  gate.resolve()
  await until(() => delivered.length > 100 || undefined, 'they go on', longMs)
  t.equal(most, 4)
  stop.abort()
  await outbox.settled()
  const after = delivered.length
  outbox.put('late', 'm')
  await outbox.settled()
  t.equal(delivered.length, after)
})

void t.test('receivers of one namespace that do not answer neither delay nor replace those of another namespace', async (t) => {
  const gate = Promise.withResolvers<void>()
  t.teardown(gate.resolve)
  const { outbox, delivered } = open(t, async (key) => {
    if (key.startsWith('plant-a/')) await gate.promise
    return { kind: 'sent' }
  })
  for (let index = 0; index < 2_000; index += 1) outbox.put(`plant-a/${index}`, 'm')
  outbox.put('plant-b/line', 'm')
  await until(() => delivered.includes('plant-b/line m sent') || undefined, 'the message of another namespace is sent', longMs)
  t.equal(delivered.filter((line) => line.endsWith(' dropped')).length, 1_000)
})

void t.test('receivers of three namespaces that do not answer delay another namespace by seconds', async (t) => {
  const simulated = new SimulatedClock()
  const clock: Clock = { ...systemClock, monotonicMs: simulated.monotonicMs, wait: simulated.wait }
  const begun: string[] = []
  const { outbox, delivered } = open(
    t,
    async (key, _message, signal) => {
      begun.push(key)
      if (key.startsWith('quiet/')) return { kind: 'sent' }
      return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
    clock,
  )
  for (const key of ['plant-a/1', 'plant-a/2', 'plant-b/1', 'plant-b/2', 'plant-c/1']) outbox.put(key, 'm')
  await simulated.runUntil(simulated.wait(5))
  t.strictSame(begun, ['plant-a/1', 'plant-a/2', 'plant-b/1', 'plant-c/1'])
  outbox.put('quiet/1', 'm')
  await simulated.runUntil(simulated.wait(10_000))
  t.strictSame(delivered, ['quiet/1 m sent'])
})
