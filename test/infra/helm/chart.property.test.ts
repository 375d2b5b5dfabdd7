/**
 * The chart and the synthesised manifests are the same objects: for values at random both ways install the same and warn of the same, or
 * both refuse.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { checkRelease, checkValues } from '../../../infra/check-values.ts'
import { objects } from '../../../infra/objects.ts'
import type { Manifest } from '../../../infra/manifest.ts'
import { type ValuesInput, valuesSchema } from '../../../infra/values.ts'
import { version } from '../../../runtime/version.ts'
import { arbitraryValues } from '../../support/arbitrary-values.ts'
import { canRunHelm, type Helm, helm, rendered } from '../../support/helm.ts'
import { rows, valuesOf } from '../../support/switches.ts'
import { profiles, release } from '../installed.ts'

type Synthesised = { manifests: Manifest[]; warnings: string[] }

/** Throws an Error for values that are refused. */
function synthesised(values: ValuesInput, of: typeof release): Synthesised {
  checkRelease(of)
  const checked = checkValues(values)
  // Helm marks what it manages, cdk8s what it does.
  const made = Object.values(objects({ ...of, service: 'Helm' }, checked.values, version)).flat()
  return { manifests: JSON.parse(JSON.stringify(made)) as Manifest[], warnings: checked.warnings }
}

/** Four in five of the values can be installed. */
const runs = 80

function byName(manifests: readonly Manifest[]): Record<string, Manifest> {
  const names = manifests.map(({ kind, metadata: { name, namespace } }) => `${kind} ${String(namespace)} ${name}`)
  if (new Set(names).size < names.length) throw new Error(`an object is there twice: ${names.join(', ')}`)
  return Object.fromEntries(manifests.map((manifest, index) => [names[index], manifest]))
}

/** Whether the values can be installed. */
async function compared(t: Test, real: Helm, values: ValuesInput, of: typeof release): Promise<boolean> {
  const answer = await rendered(real, of, values)
  let wanted: Synthesised
  try {
    wanted = synthesised(values, of)
  } catch (error) {
    const { message } = error as Error
    if (typeof answer !== 'string') throw new Error(`Helm installs what is refused: ${message}`, { cause: error })
    const missing = message.split('\n').filter((line) => !answer.includes(line))
    // What the schema refuses Helm refuses in words of its own.
    if (v.safeParse(valuesSchema, values).success) t.same(missing, [], answer)
    return false
  }
  if (typeof answer === 'string') throw new Error(`Helm refuses what can be installed: ${answer}`)
  t.strictSame(byName(answer.manifests), byName(wanted.manifests))
  const warnings = [...answer.notes.matchAll(/^warning: (.*)$/gm)].map(([, warning]) => warning)
  t.same(new Set(warnings), new Set(wanted.warnings))
  return true
}

function isAccepted(values: ValuesInput): boolean {
  try {
    checkValues(values)
    return true
  } catch {
    return false
  }
}

void t.test('values at random install the same both ways, or are refused both ways', { timeout: 300_000 }, async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const values = fc.oneof({ weight: 6, arbitrary: arbitraryValues.filter(isAccepted) }, { weight: 1, arbitrary: arbitraryValues })
  const names = fc.constantFrom(...Array.from({ length: 20 }, () => 'plant'), 'my-cluster-sync-operator', 'p'.repeat(53), 'plant.one', '1')
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(values, names, async (values, name) => {
      accepted += (await compared(t, real, values, { ...release, name })) ? 1 : 0
    }),
    { numRuns: runs },
  )
  t.comment(`${accepted} of ${runs} values can be installed`)
  t.ok(accepted >= 50, `${accepted} values can be installed`)
})

void t.test('each profile and every two switches together install the same both ways', { timeout: 300_000 }, async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const named = [...Object.entries(profiles), ...rows.map((row) => [JSON.stringify(row), valuesOf(row)] as const)]
  for (const [name, values] of named) t.ok(await compared(t, real, values, release), name)
})
