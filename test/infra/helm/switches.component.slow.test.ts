/**
 * The chart and the synthesized manifests have the same objects for each profile and for every pair of switches.
 */
import t from 'tap'
import { installsBothWays } from '../../support/both-ways.ts'
import { canRunHelm, helm } from '../../support/helm.ts'
import { rows, valuesOf } from '../../support/switches.ts'
import { profiles, release } from '../installed.ts'

void t.test('each profile and every pair of switches install the same objects both ways', { timeout: 600_000 }, async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const named = [...Object.entries(profiles), ...rows.map((row) => [JSON.stringify(row), valuesOf(row)] as const)]
  for (const [name, values] of named) t.ok(await installsBothWays(t, real, values, release), name)
})
