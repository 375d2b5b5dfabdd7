/**
 * What the commands and queries of the pages read exists: fields of the CRDs in a JSONPath, and labels of metrics in a selector.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../infra/crd.ts'
import { agentMetrics, type Metric, nodeMetrics, objectMetrics, processMetrics } from '../runtime/telemetry/metrics/table.ts'

const docs = path.resolve(import.meta.dirname, '../docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(path.join(docs, name), 'utf8') }))

type Schema = { properties?: Record<string, Schema>; items?: Schema }

function schemaOf(crd: unknown): Schema {
  const [version] = (crd as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }).spec.versions
  return version?.schema.openAPIV3Schema ?? {}
}

const schemas: Readonly<Record<string, Schema>> = { gatewaysync: schemaOf(gatewaySyncCrd()), syncreport: schemaOf(syncReportCrd()) }

/** The schema of a field such as `.status.history[*]`, which is relative to `schema`; undefined if it does not exist. */
function fieldOf(schema: Schema | undefined, field: string): Schema | undefined {
  const parts = field.split('.').slice(1)
  return parts.reduce<Schema | undefined>((above, part) => {
    const [name = '', index] = part.split('[')
    const found = above?.properties?.[name]
    return index === undefined ? found : found?.items
  }, schema)
}

/** The fields of an expression that do not exist. Fields after a range are relative to its items. */
function missingIn(expression: string, schema: Schema | undefined): string[] {
  const [, range] = /\{range \.items\[\*\]([^}]*)\}/.exec(expression) ?? []
  const items = range === undefined ? schema : fieldOf(schema, range)
  const fields = [...expression.matchAll(/\{(\.[^}]+)\}/g)].map(([, field = '']) => field)
  return [...(items === undefined ? [range ?? ''] : []), ...fields.filter((field) => fieldOf(items, field) === undefined)]
}

void t.test('the fields in the JSONPath of a command exist', async (t) => {
  let found = 0
  for (const { name, text } of pages) {
    for (const [, kind = '', expression = ''] of text.matchAll(/kubectl get (gatewaysync|syncreport)s? [^`\n]*?jsonpath='([^']*)'/g)) {
      t.strictSame(missingIn(expression, schemas[kind]), [], `${name}: ${expression}`)
      found++
    }
  }
  t.ok(found > 10)
})

void t.test('the labels in a selector of a metric exist', async (t) => {
  const metrics: Readonly<Record<string, Metric>> = { ...objectMetrics, ...nodeMetrics, ...processMetrics, ...agentMetrics }
  let found = 0
  for (const { name, text } of pages) {
    for (const [selector, metric = '', label = ''] of text.matchAll(/\b(clustersync_\w+)\{(\w+)=/g)) {
      t.ok(metrics[metric]?.labels?.includes(label), `${name}: ${selector}`)
      found++
    }
  }
  t.ok(found > 2)
})
