/**
 * Tests the table of metrics against the code that writes them.
 */
import path from 'node:path'
import t from 'tap'
import { agentMetrics, nodeMetrics, objectMetrics, processMetrics } from '../../../../runtime/telemetry/metrics/table.ts'
import { readModules } from '../../../support/modules.ts'

void t.test('each metric of the table is written by some module', async (t) => {
  const modules = readModules(path.join(import.meta.dirname, '../../../..'), 'runtime').filter(
    ({ file }) => file !== 'runtime/telemetry/metrics/table.ts',
  )
  const named = new Set(modules.flatMap(({ text }) => text.match(/\b(?:clustersync|process|nodejs)_[a-z_]+/g) ?? []))
  const table = Object.keys({ ...agentMetrics, ...nodeMetrics, ...objectMetrics, ...processMetrics })
  t.strictSame(
    table.filter((name) => !named.has(name)),
    [],
  )
})
