import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import { EventRecorder, type EventToWrite } from '../../../runtime/kube/events.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'

const hangs = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))

function event(changes: Partial<EventToWrite> = {}): EventToWrite {
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'plant', name: 'a', uid: 'u' }
  return { regarding, type: 'Normal', reason: 'Published', action: 'Sync', note: 'published a', ...changes }
}

/** An API server that records the writes; `answer` may reject them or hang. */
function setUp(answer: (what: string, signal: AbortSignal) => Promise<void> = async () => {}, clock: Clock = systemClock) {
  const written: string[] = []
  const write = async (what: string, signal: AbortSignal): Promise<never> => {
    await answer(what, signal)
    written.push(what)
    return undefined as never
  }
  const kube = {
    create: (_type: unknown, { note }: { note: string }, signal: AbortSignal) => write(`create ${note}`, signal),
    mergePatch: (_type: unknown, _key: unknown, { series }: { series: { count: number } }, _options: unknown, signal: AbortSignal) =>
      write(`count ${series.count}`, signal),
  } as unknown as Kube
  return { written, recorder: new EventRecorder({ kube, clock, log: silentLog }, { component: 'test', instance: 'test' }) }
}

void t.test('equal events form one series, different events do not', async (t) => {
  const { recorder, written } = setUp()
  for (const note of ['a', 'a', 'b', 'a']) recorder.record(event({ note }))
  await recorder.settled()
  t.strictSame(written, ['create a', 'count 2', 'create b', 'count 3'])
})

void t.test('a series whose event was deleted starts as a new event', async (t) => {
  let gone = true
  const { recorder, written } = setUp(async (what) => {
    if (gone && what.startsWith('count')) throw new Fault('NotFound', 'no such event')
  })
  recorder.record(event())
  recorder.record(event())
  await recorder.settled()
  gone = false
  recorder.record(event())
  await recorder.settled()
  t.strictSame(written, ['create published a', 'create published a'])
})

void t.test('events about one object for one reason are limited and do not suppress other events', async (t) => {
  const { recorder, written } = setUp()
  for (let i = 0; i < 100; i += 1) recorder.record(event({ note: `${i}` }))
  recorder.record(event({ reason: 'Synced', note: 'other' }))
  await recorder.settled()
  t.equal(written.length, 26)
  t.equal(written.at(-1), 'create other')
})

void t.test('an API server that hangs blocks neither the shutdown nor lets pending events grow without limit', async (t) => {
  let asked = 0
  const end = Promise.withResolvers<void>()
  // The test decides when the final waits of the shutdown are over.
  const { recorder, written } = setUp(
    async (_what, signal) => {
      asked += 1
      await hangs(signal)
    },
    { ...systemClock, wait: () => end.promise },
  )
  for (let i = 0; i < 5_000; i += 1) recorder.record(event({ regarding: { ...event().regarding, uid: `u${i}` } }))
  while (asked === 0) await turn()
  const settled = recorder.settled()
  end.resolve()
  await settled
  t.strictSame([written, asked], [[], 1])
})

void t.test('the number of events waiting for a slow API server is bounded', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { recorder, written } = setUp(() => gate.promise)
  for (let i = 0; i < 5_000; i += 1) recorder.record(event({ regarding: { ...event().regarding, uid: `u${i}` } }))
  gate.resolve()
  await recorder.settled()
  t.ok(written.length > 100 && written.length <= 1_000, `${written.length} were kept`)
})

void t.test('events of a namespace that writes many neither replace nor delay those of another namespace', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { recorder, written } = setUp(() => gate.promise)
  const record = (namespace: string, index: number): void =>
    recorder.record(event({ note: `${namespace} ${index}`, regarding: { ...event().regarding, namespace, uid: `${namespace} ${index}` } }))
  for (let index = 0; index < 1_000; index += 1) record('busy', index)
  record('plant', 0)
  record('plant', 1)
  gate.resolve()
  await recorder.settled()
  t.equal(written.length, 252)
  t.strictSame(written.slice(0, 4), ['create busy 0', 'create plant 0', 'create busy 1', 'create plant 1'])
})

void t.test('a namespace with many events does not end the series of others', async (t) => {
  const { recorder, written } = setUp()
  recorder.record(event())
  for (let index = 0; index < 2_001; index += 1) {
    recorder.record(event({ regarding: { ...event().regarding, namespace: 'loud', uid: String(index) } }))
    if (index % 100 === 0) await recorder.settled()
  }
  await recorder.settled()
  t.equal(written.length, 2_002)
  recorder.record(event())
  await recorder.settled()
  t.equal(written.at(-1), 'count 2')
})
