/**
 * Tests the log output of the controller with and without `controller.logDevMode: "true"`.
 */
import path from 'node:path'
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { firstLinesOf } from '../../../support/controller-process.ts'

const program = path.resolve(import.meta.dirname, '../../../../runtime/controller.ts')

void t.test('in development mode log lines of every level are human-readable', { timeout: 600_000 }, async (t) => {
  matchObject(t, await firstLinesOf(t, program, { development: true, logLevel: 'error' }), [
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(operator-0\): controller started \{"version":"[^"]+"\}$/,
    /^\[\d\d:\d\d:\d\d\.\d{3}\] DEBUG: runtime environment \{"message":"Node [^"]+"\}$/,
  ])
})

void t.test('outside development mode log lines are JSON, from the configured level up', { timeout: 600_000 }, async (t) => {
  const lines = async (logLevel: 'info' | 'debug'): Promise<unknown[]> =>
    (await firstLinesOf(t, program, { logLevel })).map((line) => JSON.parse(line) as unknown)
  const started = { level: 'info', msg: 'controller started', name: 'operator-0' }
  matchObject(t, await lines('info'), [started, { level: 'warn', msg: 'the API server is not available yet' }])
  matchObject(t, await lines('debug'), [started, { level: 'debug', msg: 'runtime environment' }])
})
