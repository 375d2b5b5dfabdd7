/**
 * The chart and the synthesized manifests have the same objects for random values.
 */
import fc from 'fast-check'
import t from 'tap'
import { checkValues } from '../../../infra/values/check.ts'
import type { ValuesInput } from '../../../infra/values.ts'
import { arbitraryValues } from '../../support/arbitrary-values.ts'
import { installsBothWays } from '../../support/both-ways.ts'
import { canRunHelm, helm } from '../../support/helm.ts'
import { release } from '../installed.ts'

/** The number of runs that two cores finish in a minute. */
const runs = 300
/** Minimum share of values that can be installed; the actual share is about four in five. */
const leastShare = 0.5

function isAccepted(values: ValuesInput): boolean {
  try {
    checkValues(values)
    return true
  } catch {
    return false
  }
}

void t.test('random values install the same objects both ways, or are refused both ways', { timeout: 600_000 }, async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const values = fc.oneof({ weight: 6, arbitrary: arbitraryValues.filter(isAccepted) }, { weight: 1, arbitrary: arbitraryValues })
  const names = fc.constantFrom(...Array.from({ length: 20 }, () => 'plant'), 'my-cluster-sync-operator', 'p'.repeat(53), 'plant.one', '1')
  const tried = { all: 0, accepted: 0 }
  await fc.assert(
    fc.asyncProperty(values, names, async (values, name) => {
      if (await installsBothWays(t, real, values, { ...release, name })) tried.accepted += 1
      tried.all += 1
    }),
    { numRuns: runs },
  )
  t.ok(tried.accepted >= tried.all * leastShare, `${tried.accepted} of ${tried.all} values can be installed`)
})
