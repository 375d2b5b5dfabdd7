import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { syncEvent, syncEvents } from '../../../../runtime/reconcile/decide/events.ts'

void t.test('the reference lists each event with its type and when it is recorded', async (t) => {
  const page = path.join(import.meta.dirname, '../../../../docs/reference/operations.md')
  const lines = readFileSync(page, 'utf8').split('\n')
  for (const [reason, { type, when }] of Object.entries(syncEvents)) t.ok(lines.includes(`| \`${reason}\` | ${type} | ${when} |`), reason)
})

void t.test('an event has the type of its reason', async (t) => {
  t.strictSame(syncEvent('Published', 'a note'), { type: 'Normal', reason: 'Published', note: 'a note' })
  t.strictSame(syncEvent('RolledBack', 'a note'), { type: 'Warning', reason: 'RolledBack', note: 'a note' })
})
