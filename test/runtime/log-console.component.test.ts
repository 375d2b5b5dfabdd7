/**
 * What the controller writes with `controller.logDevMode: "true"`, and without it.
 */
import path from 'node:path'
import t from 'tap'
import { firstLineOf } from '../support/controller-process.ts'

const program = path.resolve(import.meta.dirname, '../../runtime/controller.ts')

void t.test('in development log lines are written for a person to read', { timeout: 120_000 }, async (t) => {
  t.match(
    await firstLineOf(t, program, { development: true }),
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(operator-0\): controller started \{"message":"[^"]+"\}$/,
  )
})

void t.test('outside of development log lines are JSON', { timeout: 120_000 }, async (t) => {
  t.match(JSON.parse(await firstLineOf(t, program, {})), { level: 'info', msg: 'controller started', name: 'operator-0' })
})
