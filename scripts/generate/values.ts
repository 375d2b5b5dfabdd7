/**
 * docs/reference/values.md: every value with type, default and meaning, from the schema that checks them.
 */
import { inputSchema, type ValueSchema } from '../../infra/values/json-schema.ts'
import { type GeneratedFile, table } from './table.ts'

export async function values(): Promise<GeneratedFile[]> {
  const rows = leaves(inputSchema(), [])
  const content = [
    '# Installation values',
    '',
    'Every key with its type, default and meaning. Unknown keys, wrong types and impossible combinations are errors that name the key; values without effect are warnings.',
    '',
    table(['Key', 'Type', 'Default', 'Meaning'], rows),
    '',
  ].join('\n')
  return [{ path: 'docs/reference/values.md', content }]
}

/** The keys that hold no further fixed keys, in the order of the schema. */
function leaves(schema: ValueSchema, path: readonly string[]): string[][] {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length > 0) return properties.flatMap(([name, inner]) => leaves(inner, [...path, name]))
  const types = schema.anyOf?.flatMap(({ type }) => type ?? []).join(' or ')
  const type =
    schema.enum === undefined ? (schema.type ?? types ?? 'any') : schema.enum.map((value) => `\`${String(value) || '""'}\``).join(', ')
  return [[`\`${path.join('.')}\``, type, `\`${JSON.stringify(schema.default)}\``, schema.description ?? '']]
}
