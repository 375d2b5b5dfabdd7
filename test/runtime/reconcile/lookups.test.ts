import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import type { SourceObservation } from '../../../runtime/gatewaysync/decide.ts'
import type { Wanted } from '../../../runtime/gatewaysync/request.ts'
import { parseCommitHash, parseRefName } from '../../../runtime/gatewaysync/values.ts'
import { createLookups, type Question } from '../../../runtime/reconcile/lookups.ts'

const wanted: Wanted = { ref: parseRefName('main'), request: undefined, undecided: false }
const found: SourceObservation = {
  kind: 'resolved',
  commit: parseCommitHash('a'.repeat(40)),
  committedAt: undefined,
  fetchedAt: '2026-01-01T00:00:00Z',
  verified: undefined,
  verdict: { kind: 'notChecked' },
  durationMs: 1,
}

function setUp(concurrency = 2) {
  const stop = new AbortController()
  const answered: string[] = []
  const lookups = createLookups({ clock: systemClock, concurrency, answered: (key) => answered.push(key), signal: stop.signal })
  return { lookups, answered, stop }
}

/** A question that is answered when the test says so, or ends with its signal. */
function openQuestion(text: string, changes: Partial<Question> = {}): Question & { answer(): void; asked(): boolean } {
  const gate = Promise.withResolvers<SourceObservation>()
  let asked = false
  return {
    subject: 'plant.git',
    host: 'git.example',
    text,
    wanted,
    async ask(signal) {
      asked = true
      signal.addEventListener('abort', () => gate.reject(signal.reason as Error))
      return await gate.promise
    },
    answer: () => gate.resolve(found),
    asked: () => asked,
    ...changes,
  }
}

void t.test('an answer waits until a pass has acted on it', async (t) => {
  const { lookups, answered } = setUp()
  const question = openQuestion('q')
  lookups.ask('plant/a', question)
  t.equal(lookups.isAsking('plant/a', question), true)
  question.answer()
  while (answered.length === 0) await turn()
  const answer = lookups.answer('plant/a')
  t.strictSame(answer, { subject: 'plant.git', wanted, source: found })
  if (answer !== undefined) lookups.done('plant/a', answer)
  t.equal(lookups.answer('plant/a'), undefined)
  t.match(lookups.last('plant/a'), { question: 'q', failures: 0, fault: undefined })
})

void t.test('a git host that hangs holds up its own resource only', async (t) => {
  const { lookups, answered, stop } = setUp(2)
  lookups.ask('plant/hangs', openQuestion('h'))
  const other = openQuestion('o')
  lookups.ask('plant/other', other)
  other.answer()
  while (answered.length === 0) await turn()
  t.strictSame(answered, ['plant/other'])
  stop.abort()
  await lookups.settled()
})

void t.test('a git host that hangs holds up no other, however many resources ask it', async (t) => {
  const { lookups, answered, stop } = setUp(4)
  const hanging = Array.from({ length: 20 }, (_, index) => openQuestion(`h${index}`, { host: 'hangs.example' }))
  for (const [index, question] of hanging.entries()) lookups.ask(`plant/${index}`, question)
  const others = [openQuestion('o1', { host: 'works.example' }), openQuestion('o2', { host: 'works.example' })]
  for (const [index, other] of others.entries()) {
    lookups.ask(`other/${index}`, other)
    other.answer()
  }
  for (let turns = 0; turns < 100 && answered.length < 2; turns += 1) await turn()
  t.strictSame(answered, ['other/0', 'other/1'])
  t.equal(hanging.filter((question) => question.asked()).length, 3, 'three quarters of the places')
  stop.abort()
  await lookups.settled()
})

void t.test('no more questions run at once than allowed, and each gets its turn', async (t) => {
  const { lookups, answered } = setUp(1)
  const [first, second] = [openQuestion('1'), openQuestion('2')]
  lookups.ask('plant/a', first)
  lookups.ask('plant/b', second)
  await turn()
  t.strictSame([first.asked(), second.asked()], [true, false])
  first.answer()
  while (!second.asked()) await turn()
  second.answer()
  while (answered.length < 2) await turn()
  t.strictSame(answered, ['plant/a', 'plant/b'])
})

void t.test('another question cancels the one under way, whose answer no longer counts', async (t) => {
  const { lookups, answered } = setUp()
  lookups.ask('plant/a', openQuestion('old'))
  const fresh = openQuestion('new')
  lookups.ask('plant/a', fresh)
  t.equal(lookups.isAsking('plant/a', { text: 'old', wanted }), false)
  fresh.answer()
  while (answered.length === 0) await turn()
  t.equal(lookups.last('plant/a')?.question, 'new')
  await lookups.settled()
  t.strictSame(answered, ['plant/a'])
})

void t.test('a request does not wait for a poll of its ref, and does for the question of another request', async (t) => {
  const { lookups, stop } = setUp()
  const of = (id: string): Wanted => {
    const request = { id, ref: parseRefName('main'), specRef: 'main', by: undefined, at: undefined }
    return { ...wanted, request, undecided: true }
  }
  lookups.ask('plant/a', openQuestion('q'))
  t.equal(lookups.isAsking('plant/a', { text: 'q', wanted: of('r1') }), false)
  lookups.ask('plant/a', openQuestion('q', { wanted: of('r1') }))
  t.equal(lookups.isAsking('plant/a', { text: 'q', wanted: of('r2') }), true)
  t.equal(lookups.isAsking('plant/a', { text: 'another ref', wanted: of('r2') }), false)
  stop.abort()
  await lookups.settled()
})

void t.test('failures count up until a success', async (t) => {
  const { lookups, answered } = setUp()
  const failing = { subject: 's', host: 'h', text: 'q', wanted, ask: () => Promise.reject(new Fault('GitTimeout', 'slow')) }
  for (let i = 1; i <= 2; i++) {
    lookups.ask('plant/a', failing)
    while (answered.length < i) await turn()
    t.match(lookups.last('plant/a'), { failures: i, fault: { reason: 'GitTimeout' } })
  }
  t.match(lookups.answer('plant/a'), { source: { kind: 'fault' } })
  lookups.ask('plant/a', { subject: 's', host: 'h', text: 'q', wanted, ask: async () => found })
  while (answered.length < 3) await turn()
  t.match(lookups.last('plant/a'), { failures: 0 })
  lookups.forget('plant/a')
  t.equal(lookups.last('plant/a'), undefined)
})
