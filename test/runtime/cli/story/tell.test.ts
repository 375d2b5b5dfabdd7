import t from 'tap'
import type { StoryEvent } from '../../../../runtime/cli/story/events.ts'
import { createStory, type StoryOptions } from '../../../../runtime/cli/story/tell.ts'

const commit = 'a'.repeat(40)
const unchanged: StoryEvent = { event: 'unchanged', ref: 'main', commit }
const ready: StoryEvent = { event: 'ready', message: 'all' }
const failed: StoryEvent = { event: 'gaveUp', reason: 'Timeout', message: 'late' }
const progress = (done: number): StoryEvent => ({ event: 'progress', target: 'plant', done, total: 9 })

function start(options: Partial<StoryOptions> = {}) {
  let nowMs = 0
  const written = { out: '', err: '' }
  const clock = { now: () => Temporal.Instant.from('2026-01-01T09:05:07Z'), monotonicMs: () => nowMs }
  const style = { width: 80, colour: false, symbols: false, timeZone: 'UTC', verbose: false }
  const story = createStory(clock, {
    format: 'text',
    style,
    isTerminal: false,
    splits: false,
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    ...options,
  })
  return { story, written, pass: (ms: number) => (nowMs += ms) }
}

void t.test('a terminal has one passing line, which the next that stays takes away', async (t) => {
  const { story, written, pass } = start({ isTerminal: true })
  story.tell(progress(1))
  story.tell(progress(2))
  pass(100)
  story.tell(progress(3))
  story.tell(progress(9))
  story.tell(ready)
  story.tell(unchanged)
  story.end()
  const clear = '\r\u001b[2K'
  const lines = ['09:05:07   plant: 1 of 9 files', '09:05:07   plant: 3 of 9 files', '09:05:07   plant: 9 of 9 files']
  const rest = `${clear}09:05:07 ready: all\n${clear}09:05:07   checked main: nothing new since aaaaaaaa${clear}`
  t.equal(written.out, `${lines.map((line) => clear + line).join('')}${rest}`)
})

void t.test('a pipe hears nothing of polls without news, and of a long sync every ten seconds', async (t) => {
  const { story, written, pass } = start()
  story.tell(unchanged)
  story.tell(progress(1))
  for (const done of [2, 3, 9]) {
    pass(4_000)
    story.tell(progress(done))
  }
  t.equal(written.out, '09:05:07 plant: 9 of 9 files\n')
})

void t.test('the failure of a single run goes to standard error, and is known to be told', async (t) => {
  const { story, written } = start({ splits: true })
  story.tell(ready)
  t.equal(story.hasFailed(), false)
  story.tell(failed)
  t.equal(story.hasFailed(), true)
  t.equal(written.out, '09:05:07 ready: all\n')
  t.match(written.err, /^09:05:07 late \(Timeout\)\n +next: /)
})

void t.test('JSON is one event in each line, with what to do about a failure', async (t) => {
  const { story, written } = start({ format: 'json', isTerminal: true })
  for (const event of [ready, failed, unchanged]) story.tell(event)
  const lines = written.out.trimEnd().split('\n')
  t.equal(lines.length, 2)
  t.same(JSON.parse(lines[0] ?? ''), { time: '2026-01-01T09:05:07.000Z', event: 'ready', level: 'ok', message: 'all' })
  t.match(JSON.parse(lines[1] ?? ''), { event: 'gaveUp', level: 'error', reason: 'Timeout', next: /--timeout/ })
})
