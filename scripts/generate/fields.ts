/**
 * docs/fields.md: every field of both kinds with type, default and meaning, from the definitions that the API server has.
 */
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { type GeneratedFile, table } from './table.ts'

type Schema = {
  type?: string
  description?: string
  default?: unknown
  enum?: readonly unknown[]
  required?: readonly string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  'x-kubernetes-int-or-string'?: boolean
}

export async function fields(): Promise<GeneratedFile[]> {
  const kinds = [gatewaySyncCrd(), syncReportCrd()].flatMap(({ spec }) => {
    const [version] = spec.versions as unknown as { schema: { openAPIV3Schema: Schema } }[]
    const { description = '', properties = {} } = version?.schema.openAPIV3Schema ?? {}
    const { kind } = spec.names as { kind: string }
    const part = (name: 'spec' | 'status', intro: string): string[] => [
      `### ${kind}: ${name}`,
      '',
      intro,
      '',
      table(['Field', 'Type', 'Default', 'Meaning'], rowsOf(properties[name] ?? {}, name)),
      '',
    ]
    return [`## ${kind}`, '', description, '', ...part('spec', 'What is asked for.'), ...part('status', 'What is answered.')]
  })
  const content = [
    '# Fields of GatewaySync and SyncReport',
    '',
    'Every field with its type, default and meaning, as `kubectl explain gatewaysync.spec` prints them one level at a time. A field in **bold** has',
    'to be there. `[]` is an entry of a list, `*` a name of your own. `kubectl apply` refuses an unknown field, and `cluster-sync run` and `plan`',
    'say which one was probably meant.',
    '',
    ...kinds,
  ].join('\n')
  return [{ path: 'docs/fields.md', content: `${content.trimEnd()}\n` }]
}

/** A row for each field below a schema, each before its own. */
function rowsOf(schema: Schema, path: string): string[][] {
  const { properties = {}, items, additionalProperties, required = [] } = schema
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const shown = `${path}.${name}`
    const label = required.includes(name) ? `**\`${shown}\`**` : `\`${shown}\``
    const fallback = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``
    return [[label, typeOf(field), fallback, oneLine(field.description ?? '')], ...rowsOf(field, shown)]
  })
  const values = typeof additionalProperties === 'object' ? rowsOf(additionalProperties, `${path}.*`) : []
  return [...own, ...(items === undefined ? [] : rowsOf(items, `${path}[]`)), ...values]
}

function typeOf({ type, enum: choices, items, additionalProperties, ...others }: Schema): string {
  if (choices !== undefined) return choices.map((choice) => `\`${String(choice) || '""'}\``).join(', ')
  if (others['x-kubernetes-int-or-string'] === true) return 'integer or string'
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`
  return type ?? 'any'
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
