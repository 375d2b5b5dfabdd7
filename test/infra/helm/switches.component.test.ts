/**
 * The chart and the synthesised manifests are the same objects, for each profile and for every two switches of the values together.
 */
import t from 'tap'
import { installsBothWays } from '../../support/both-ways.ts'
import { canRunHelm, helm } from '../../support/helm.ts'
import { rows, valuesOf } from '../../support/switches.ts'
import { profiles, release } from '../installed.ts'

void t.test('each profile and every two switches together install the same both ways', { timeout: 300_000 }, async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const named = [...Object.entries(profiles), ...rows.map((row) => [JSON.stringify(row), valuesOf(row)] as const)]
  for (const [name, values] of named) t.ok(await installsBothWays(t, real, values, release), name)
})
