/**
 * What the controller writes with `controller.logDevMode: "true"`, and without it.
 */
import path from 'node:path'
import t from 'tap'
import { firstLinesOf } from '../support/controller-process.ts'

const program = path.resolve(import.meta.dirname, '../../runtime/controller.ts')

void t.test('in development log lines of every level are written for a person to read', { timeout: 120_000 }, async (t) => {
  t.match(await firstLinesOf(t, program, { development: true, logLevel: 'error' }), [
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(operator-0\): controller started \{"message":"[^"]+"\}$/,
    /^\[\d\d:\d\d:\d\d\.\d{3}\] DEBUG: what it runs on \{"message":"Node [^"]+"\}$/,
  ])
})

void t.test('outside of development log lines are JSON, from the level of the settings on', { timeout: 120_000 }, async (t) => {
  const lines = async (logLevel: 'info' | 'debug'): Promise<unknown[]> =>
    (await firstLinesOf(t, program, { logLevel })).map((line) => JSON.parse(line) as unknown)
  const started = { level: 'info', msg: 'controller started', name: 'operator-0' }
  t.match(await lines('info'), [started, { level: 'warn', msg: 'the API server is not there yet' }])
  t.match(await lines('debug'), [started, { level: 'debug', msg: 'what it runs on' }])
})
