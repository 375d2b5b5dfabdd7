/**
 * docs/reference/fields.md: every field of both kinds with type, default and meaning, from the CRDs.
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
    const part = (name: 'spec' | 'status'): string[] => [
      `### ${kind}: ${name}`,
      '',
      table(['Field', 'Type', 'Default', 'Meaning'], rowsOf(properties[name] ?? {}, name)),
      '',
    ]
    return [`## ${kind}`, '', description, '', ...part('spec'), ...part('status')]
  })
  const content = [
    '# Fields of GatewaySync and SyncReport',
    '',
    'Every field with its type, default and meaning, as in `kubectl explain gatewaysync.spec`. Fields in **bold** are required. `[]` is an item of a list, `*` a key of a map. kubectl rejects unknown fields; with other clients, the API server may drop them.',
    '',
    ...kinds,
  ].join('\n')
  return [{ path: 'docs/reference/fields.md', content: `${content.trimEnd()}\n` }]
}

/** Objects with the fields of another one, which are listed there only. */
const sameAs: Readonly<Record<string, string>> = { 'spec.capture.auth': 'spec.git.auth' }

/** Fields of a profile that `spec.sync.defaults` does not have; it has all fields of the defaults too. */
const ownOfProfiles: ReadonlySet<string> = new Set(['collections', 'mappings'])

/** Whether the members of an object or list of the status are part of its row: those without members of their own. */
function isFolded(field: Schema, path: string): boolean {
  const members = Object.values((field.items ?? field).properties ?? {})
  return (
    path.startsWith('status.') &&
    members.length > 0 &&
    members.every(
      (member) =>
        member.properties === undefined && member.items?.properties === undefined && typeof member.additionalProperties !== 'object',
    )
  )
}

function membersOf(field: Schema): string {
  return Object.entries((field.items ?? field).properties ?? {})
    .map(([name, member]) => {
      const choices = member.enum === undefined ? '' : ` (${typeOf(member)})`
      return `\`${name}\`${choices}: ${oneLine(member.description ?? '').replace(/\.$/, '')}.`
    })
    .join(' ')
}

/** A row for each field below a schema, each before its own. */
function rowsOf(schema: Schema, path: string): string[][] {
  const { properties = {}, items, additionalProperties, required = [] } = schema
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const shown = `${path}.${name}`
    const label = required.includes(name) ? `**\`${shown}\`**` : `\`${shown}\``
    const fallback = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``
    const meaning = oneLine(field.description ?? '')
    const same = sameAs[shown]
    if (same !== undefined) return [[label, typeOf(field), fallback, `${meaning} Fields as in \`${same}\`.`]]
    if (shown === 'spec.sync.profiles')
      return [
        [label, typeOf(field), fallback, `${meaning} A profile also has the fields of \`spec.sync.defaults\`.`],
        ...rowsOf(field, shown),
      ]
    if (isFolded(field, shown)) return [[label, typeOf(field), fallback, `${meaning} ${membersOf(field)}`]]
    return [[label, typeOf(field), fallback, meaning], ...(isSecretReference(field) || isSecretSource(field) ? [] : rowsOf(field, shown))]
  })
  const values = typeof additionalProperties === 'object' ? rowsOf(additionalProperties, `${path}.*`) : []
  if (path === 'spec.sync.profiles.*')
    return own.filter(([label = '']) => [...ownOfProfiles].some((name) => label.includes(`${path}.${name}`)))
  return [...own, ...(items === undefined ? [] : rowsOf(items, `${path}[]`)), ...values]
}

/** An object with nothing but a `secretRef` is one row, too. */
function isSecretSource({ properties = {} }: Schema): boolean {
  const [only, ...others] = Object.entries(properties)
  return only?.[0] === 'secretRef' && others.length === 0 && isSecretReference(only[1])
}

/** An object with `name`, or `name` and `key`, of a Secret is one row: its type describes its content. */
function isSecretReference({ properties = {} }: Schema): boolean {
  const names = Object.keys(properties)
  return (
    names.includes('name') &&
    names.every((name) => name === 'name' || name === 'key') &&
    /Secret/.test(properties['name']?.description ?? '')
  )
}

function typeOf(schema: Schema): string {
  if (isSecretReference(schema))
    return `object: ${Object.keys(schema.properties ?? {})
      .map((name) => `\`${name}\``)
      .join(', ')}`
  if (isSecretSource(schema))
    return `\`secretRef\` to a Secret${schema.properties?.['secretRef']?.properties?.['key'] === undefined ? '' : ' key'}`
  return plainTypeOf(schema)
}

function plainTypeOf({ type, enum: choices, items, additionalProperties, ...others }: Schema): string {
  if (choices !== undefined) return choices.map((choice) => `\`${String(choice) || '""'}\``).join(', ')
  if (others['x-kubernetes-int-or-string'] === true) return 'integer or string'
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`
  return type ?? 'any'
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
