/**
 * The table of metrics and the code that writes them.
 */
import path from 'node:path'
import t from 'tap'
import { agentMetrics, nodeMetrics, objectMetrics, processMetrics } from '../../../runtime/metrics/table.ts'
import { readModules } from '../../support/modules.ts'

void t.test('each metric of the table is written somewhere', async (t) => {
  const modules = readModules(path.join(import.meta.dirname, '../../..'), 'runtime').filter(
    ({ file }) => file !== 'runtime/metrics/table.ts',
  )
  const named = new Set(modules.flatMap(({ text }) => text.match(/\b(?:clustersync|process|nodejs)_[a-z_]+/g) ?? []))
  const table = Object.keys({ ...agentMetrics, ...nodeMetrics, ...objectMetrics, ...processMetrics })
  t.same(
    table.filter((name) => !named.has(name)),
    [],
  )
})
