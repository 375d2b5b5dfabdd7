import t from 'tap'
import { createRunOutput, type RunOutputOptions } from '../../../../runtime/cli/output/print.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import type { RunEvent } from '../../../../runtime/cli/output/narrate.ts'

const commit = 'a'.repeat(40)
const unchanged: RunEvent = { event: 'unchanged', ref: 'main', commit }
const ready: RunEvent = { event: 'ready', message: 'all' }
const failed: RunEvent = { event: 'gaveUp', reason: 'Timeout', message: 'late' }
const progress = (done: number): RunEvent => ({ event: 'progress', target: 'plant', done, total: 9 })

function start(options: Partial<RunOutputOptions> = {}) {
  let nowMs = 0
  const written = { out: '', err: '' }
  const clock = { now: () => Temporal.Instant.from('2026-01-01T09:05:07Z'), monotonicMs: () => nowMs }
  const style = { width: 80, color: false, symbols: false, timeZone: 'UTC', verbose: false }
  const output = createRunOutput(clock, {
    format: 'text',
    style,
    isTerminal: false,
    splits: false,
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    ...options,
  })
  return { output, written, pass: (ms: number) => (nowMs += ms) }
}

void t.test('a terminal has one transient line, which the next permanent line replaces', async (t) => {
  const { output, written, pass } = start({ isTerminal: true })
  output.emit(progress(1))
  output.emit(progress(2))
  pass(100)
  output.emit(progress(3))
  output.emit(progress(9))
  output.emit(ready)
  output.emit(unchanged)
  output.end()
  const clear = '\r\u001b[2K'
  const lines = ['09:05:07   plant: 1 of 9 files', '09:05:07   plant: 3 of 9 files', '09:05:07   plant: 9 of 9 files']
  const rest = `${clear}09:05:07 ready: all\n${clear}09:05:07   checked main: nothing new since aaaaaaaa${clear}`
  t.equal(written.out, `${lines.map((line) => clear + line).join('')}${rest}`)
})

void t.test('a pipe gets no idle polls, and the progress of a long sync every ten seconds', async (t) => {
  const { output, written, pass } = start()
  output.emit(unchanged)
  output.emit(progress(1))
  for (const done of [2, 3, 9]) {
    pass(4_000)
    output.emit(progress(done))
  }
  t.equal(written.out, '09:05:07 plant: 9 of 9 files\n')
})

void t.test('the failure of a single run goes to standard error and sets hasFailed', async (t) => {
  const { output, written } = start({ splits: true })
  output.emit(ready)
  t.equal(output.hasFailed(), false)
  output.emit(failed)
  t.equal(output.hasFailed(), true)
  t.equal(written.out, '09:05:07 ready: all\n')
  t.match(written.err, /^09:05:07 late \(Timeout\)\n +next: /)
})

void t.test('JSON has one event per line, with the next step of a failure', async (t) => {
  const { output, written } = start({ format: 'json', isTerminal: true })
  for (const event of [ready, failed, unchanged]) output.emit(event)
  const lines = written.out.trimEnd().split('\n')
  t.equal(lines.length, 2)
  t.strictSame(JSON.parse(lines[0] ?? ''), { time: '2026-01-01T09:05:07.000Z', event: 'ready', level: 'ok', message: 'all' })
  matchObject(t, JSON.parse(lines[1] ?? ''), { event: 'gaveUp', level: 'error', reason: 'Timeout', next: /--timeout/ })
})
