/**
 * Messages that wait: joined while they wait, tried again with growing waits, given up in the end.
 */
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { createOutbox, type Told, type Tried } from '../../../runtime/notify/outbox.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'

const longMs = 60_000
const away: Tried = { kind: 'again', fault: new Fault('CommitStatusFailed', 'away') }

function open(t: Pick<typeof import('tap').default, 'teardown'>, send: (key: string, message: string) => Promise<Tried>) {
  const stop = new AbortController()
  const told: string[] = []
  const outbox = createOutbox<string>(
    {
      clock: systemClock,
      send,
      join: (before, next) => `${before}+${next}`,
      told: (key, message, how: Told) => told.push(`${key} ${message} ${how.kind}`),
      gatherMs: 1,
      spacingMs: 1,
      firstRetryMs: 1,
    },
    stop.signal,
  )
  t.teardown(() => stop.abort())
  return { outbox, told, stop }
}

void t.test('messages to one addressee are joined while one is under way, and sent one at a time', async (t) => {
  const gate = Promise.withResolvers<void>()
  const sent: string[] = []
  const { outbox, told } = open(t, async (key, message) => {
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
  t.same(sent, ['a 1', 'b 1b'])
  gate.resolve()
  await until(() => told.length === 3 || undefined, 'all are sent', longMs)
  t.same(sent, ['a 1', 'b 1b', 'a 2+3'])
})

void t.test('the first message waits for others, and the next one for the time that lies between two', async (t) => {
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const [waits, sent]: [number[], string[]] = [[], []]
  const outbox = createOutbox<string>(
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
      told() {},
      gatherMs: 5_000,
      spacingMs: 30_000,
    },
    stop.signal,
  )
  outbox.put('a', '1')
  outbox.put('a', '2')
  t.same([waits, sent], [[5_000], []])
  await step(5_000)
  t.same([waits, sent], [[5_000, 30_000], ['1+2']])
  outbox.put('a', '3')
  outbox.put('a', '4')
  t.same(sent, ['1+2'], 'what comes meanwhile waits')
  await step(30_000)
  t.same(
    [waits, sent],
    [
      [5_000, 30_000, 30_000],
      ['1+2', '3+4'],
    ],
  )
})

void t.test('what failed goes out with what came meanwhile, and is given up after ten tries', async (t) => {
  const tries: string[] = []
  const { outbox, told } = open(t, async (_key, message) => {
    tries.push(message)
    if (tries.length === 1) outbox.put('a', '2')
    return away
  })
  outbox.put('a', '1')
  await until(() => told.at(-1)?.endsWith('dropped') || undefined, 'it is given up', longMs)
  t.same(tries, ['1', ...Array.from({ length: 9 }, () => '1+2')])
  t.same(told.slice(0, 1), ['a 1 retried'])
  outbox.put('a', '3')
  await until(() => tries.length > 10 || undefined, 'the next one is tried anew', longMs)
  t.equal(tries[10], '3')
})

void t.test('what cannot ever be sent is given up at once', async (t) => {
  const { outbox, told } = open(t, async () => ({ kind: 'never', fault: new Fault('CommitStatusRefused', 'no') }))
  outbox.put('a', '1')
  await until(() => told.length === 1 || undefined, 'told', longMs)
  t.same(told, ['a 1 dropped'])
})

void t.test('calls at once, addressees and the end are bounded', async (t) => {
  let [now, most] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const { outbox, told, stop } = open(t, async () => {
    most = Math.max(most, (now += 1))
    await gate.promise
    now -= 1
    return { kind: 'sent' }
  })
  for (let index = 0; index < 2_003; index += 1) outbox.put(`k${index}`, 'm')
  t.same(told, ['k2000 m dropped', 'k2001 m dropped', 'k2002 m dropped'])
  await until(() => now === 4 || undefined, 'calls are under way', longMs)
  gate.resolve()
  await until(() => told.length > 100 || undefined, 'they go on', longMs)
  t.equal(most, 4)
  stop.abort()
  await outbox.settled()
  const after = told.length
  outbox.put('late', 'm')
  await outbox.settled()
  t.equal(told.length, after)
})
