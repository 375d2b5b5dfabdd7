/**
 * Tests what a log line contains for any fields.
 */
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { createLog, type LogFields } from '../../../../runtime/platform/log/log.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText, lacksText } from '../../../support/assertions.ts'

function lineOf(fields: LogFields, bound: LogFields = {}): Record<string, unknown> {
  const lines: string[] = []
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
  log.child(bound).info(fields, 'told')
  return JSON.parse(lines.join('')) as Record<string, unknown>
}

void t.test('a line has a level, a time, the message and its fields', async (t) => {
  const { time, ...line } = lineOf({ name: 'plant', count: 3 }, { namespace: 'line-1' })
  t.strictSame(line, { level: 'info', msg: 'told', namespace: 'line-1', name: 'plant', count: 3 })
  t.ok(Temporal.Instant.from(String(time)))
})

void t.test('whether an event reports the same failure is not written', async (t) => {
  const { time: _time, ...line } = lineOf({ count: 3, hasEvent: true }, { hasEvent: true })
  t.strictSame(line, { level: 'info', msg: 'told', count: 3 })
})

void t.test('each text is cut before further processing, including fields of a child logger', async (t) => {
  const long = 'a'.repeat(3 * 1024 * 1024)
  const line = lineOf({ name: long, message: long }, { pod: long })
  for (const field of ['name', 'message', 'pod']) t.equal(String(line[field]).length, 513, field)
})

void t.test('URL credentials are not logged, neither in a field nor in an error and its causes', async (t) => {
  const url = 'https://user:hush@git.example.com/a.git'
  const error = new Error(`while asking ${url}`, { cause: new Error(url) })
  const line = JSON.stringify(lineOf({ message: url, path: url, err: error }, { name: url }))
  lacksText(t, line, 'hush')
  containsText(t, line, 'caused by: ')
})

void t.test('an error is logged with its type, message and stack only', async (t) => {
  const error = Object.assign(new TypeError('broken'), { headers: { authorization: 'Bearer hush' } })
  const { err } = lineOf({ err: error }) as { err: Record<string, string> }
  t.strictSame(Object.keys(err), ['type', 'message', 'stack'])
  t.equal(err['type'], 'TypeError')
  t.equal(err['message'], 'broken')
  t.match(err['stack'], /^TypeError: broken\n.*at /)
})

void t.test('a fault redacts and limits its message when it is created', async (t) => {
  t.equal(new Fault('GitFailed', 'no answer of https://user:hush@host/x').message, 'no answer of https://***@host/x')
  t.equal(new Fault('GitFailed', 'a'.repeat(100_000)).message.length, 4097)
})
