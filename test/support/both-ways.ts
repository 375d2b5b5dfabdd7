/**
 * Compares the chart with the synthesized manifests for the same values: both install the same objects in the same order with the same
 * warnings, or both refuse with the same messages.
 */
import { App } from 'cdk8s'
import type { Test } from 'tap'
import * as v from 'valibot'
import { OperatorChart } from '../../infra/operator-chart.ts'
import type { Release } from '../../infra/names.ts'
import { type ValuesInput, valuesSchema } from '../../infra/values.ts'
import { type Helm, rendered } from './helm.ts'
import type { Manifest } from './manifest.ts'

type Synthesized = { manifests: Manifest[]; warnings: readonly string[] }

/** Throws an Error for refused values. */
function synthesized(values: ValuesInput, release: Release): Synthesized {
  // As read from a file: objects of fast-check have no prototype, which no file can express.
  const input = JSON.parse(JSON.stringify(values)) as ValuesInput
  const chart = new OperatorChart(new App(), 'operator', { release, values: input, onWarning: () => {} })
  return { manifests: (chart.toJson() as Manifest[]).map(asByHelm), warnings: chart.warnings }
}

/** Each tool has its own labels: Helm sets managed-by, cdk8s adds labels that address pods. */
function asByHelm(manifest: Manifest): Manifest {
  const marks = /^(app\.kubernetes\.io\/managed-by|cdk8s\.io\/metadata\.addr)$/
  return JSON.parse(JSON.stringify(manifest), (key, value: unknown) => {
    if (!marks.test(key)) return value
    return key.startsWith('cdk8s') ? undefined : 'Helm'
  }) as Manifest
}

/** Helm's install order (pkg/release/util/kind_sorter.go) for the kinds of an installation; other kinds come last. */
const installOrder = [
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
  'StatefulSet',
  'Ingress',
  'MutatingWebhookConfiguration',
]

/** Sorted as Helm applies them; objects of one kind by name, since their order does not matter. */
export function inInstallOrder(manifests: readonly Manifest[]): Manifest[] {
  const rank = ({ kind }: Manifest): number => installOrder.indexOf(kind) + (installOrder.includes(kind) ? 0 : 1000)
  const keyOf = ({ kind, metadata: { name, namespace } }: Manifest): string => `${kind} ${String(namespace)} ${name}`
  return manifests.toSorted((a, b) => rank(a) - rank(b) || (keyOf(a) < keyOf(b) ? -1 : 1)).map(withoutOrder)
}

/**
 * Rules of a NetworkPolicy and paths of an Ingress have no order, and cdk8s-plus chooses its own. A rule with several peers equals several
 * rules.
 */
function withoutOrder(manifest: Manifest): Manifest {
  const { spec } = structuredClone(manifest) as { spec?: Record<string, unknown[] | undefined> }
  const sorted = (list: unknown[] = []): unknown[] =>
    list.toSorted((a, b) => (JSON.stringify(sortKeys(a)) < JSON.stringify(sortKeys(b)) ? -1 : 1))
  if (manifest.kind === 'Ingress')
    for (const rule of (spec?.['rules'] ?? []) as { http: { paths: unknown[] } }[]) rule.http.paths = sorted(rule.http.paths)
  else if (manifest.kind === 'NetworkPolicy') {
    for (const direction of ['ingress', 'egress'] as const) {
      const rules = spec?.[direction] as { from?: unknown[]; to?: unknown[]; ports: unknown[] }[] | undefined
      if (spec === undefined || rules === undefined) continue
      spec[direction] = sorted(
        rules.flatMap(({ from, ...rule }) => (from === undefined ? [rule] : from.map((peer) => ({ from: [peer], ...rule })))),
      )
    }
    if (spec !== undefined) spec['policyTypes'] = sorted(spec['policyTypes'])
  } else return manifest
  return { ...manifest, spec }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}

/** Compares both; returns whether the values can be installed. */
export async function installsBothWays(t: Test, real: Helm, values: ValuesInput, of: Release): Promise<boolean> {
  return compare(t, await rendered(real, of, values), values, of)
}

/** Compares with the answer of Helm. */
export function compare(t: Test, answer: Awaited<ReturnType<typeof rendered>>, values: ValuesInput, of: Release): boolean {
  let desired: Synthesized
  try {
    desired = synthesized(values, of)
  } catch (error) {
    const { message } = error as Error
    if (typeof answer !== 'string') throw new Error(`Helm installs what is refused: ${message}`, { cause: error })
    const missing = message.split('\n').filter((line) => !answer.includes(line))
    // Helm refuses schema violations with its own messages.
    if (v.safeParse(valuesSchema, values).success) t.strictSame(missing, [], answer)
    return false
  }
  if (typeof answer === 'string') throw new Error(`Helm refuses what can be installed: ${answer}`)
  t.strictSame(
    answer.manifests.map(({ kind }) => kind),
    inInstallOrder(answer.manifests).map(({ kind }) => kind),
    'Helm applies the kinds in the order that is compared',
  )
  t.strictSame(inInstallOrder(answer.manifests), inInstallOrder(desired.manifests))
  const warnings = [...answer.notes.matchAll(/^warning: (.*)$/gm)].map(([, warning]) => warning)
  // Helm does not know the defaults of disabled sections.
  const known = desired.warnings.filter((warning) => !/: no effect while [a-zA-Z.]+\.enabled is false$/.test(warning))
  t.strictSame(new Set(warnings), new Set(known))
  return true
}
