/**
 * The chart and the synthesised manifests for the same values: both install the same objects and warn of the same, or both refuse.
 */
import { App, Chart } from 'cdk8s'
import type { Test } from 'tap'
import * as v from 'valibot'
import { checkRelease, checkValues } from '../../infra/values/check.ts'
import { concernsIn } from '../../infra/constructs/concerns.ts'
import { installationOf } from '../../infra/constructs/installation.ts'
import type { Release } from '../../infra/names.ts'
import { type ValuesInput, valuesSchema } from '../../infra/values.ts'
import { version } from '../../runtime/version.ts'
import { type Helm, rendered } from './helm.ts'
import type { Manifest } from './manifest.ts'

type Synthesised = { manifests: Manifest[]; warnings: string[] }

/** Throws an Error for values that are refused. */
function synthesised(values: ValuesInput, of: Release): Synthesised {
  checkRelease(of)
  // As a file gives them: objects that fast-check makes have no prototype, which no file can say.
  const checked = checkValues(JSON.parse(JSON.stringify(values)))
  // Helm marks what it manages, cdk8s what it does.
  const chart = new Chart(new App(), 'operator')
  concernsIn(chart, installationOf({ ...of, service: 'Helm' }, checked.values, version))
  return { manifests: chart.toJson() as Manifest[], warnings: checked.warnings }
}

function byName(manifests: readonly Manifest[]): Record<string, Manifest> {
  const names = manifests.map(({ kind, metadata: { name, namespace } }) => `${kind} ${String(namespace)} ${name}`)
  if (new Set(names).size < names.length) throw new Error(`an object is there twice: ${names.join(', ')}`)
  return Object.fromEntries(manifests.map((manifest, index) => [names[index], manifest]))
}

/** Compares; returns whether the values can be installed. */
export async function installsBothWays(t: Test, real: Helm, values: ValuesInput, of: Release): Promise<boolean> {
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
