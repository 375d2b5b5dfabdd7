/**
 * The values of an installation as plain TypeScript types with their meanings and defaults, for editors without support for schemas. Pure.
 */
import { inputSchema, type ValueSchema } from '../../infra/values/json-schema.ts'

/** A module's text that declares `ValuesInput`, and `Values`: what the constructs make of it, with every default. */
export function valueTypes(): string {
  return [
    '/** Values as a user writes them; what is left out has its default. */',
    `export type ValuesInput = ${typeOf(inputSchema(), '')};`,
    'type Complete<T> = T extends readonly unknown[] ? T : T extends object ? Filled<T> : T;',
    'type Filled<T> = string extends keyof T ? T : { [Key in keyof T]-?: Complete<NonNullable<T[Key]>> };',
    'export type Values = Filled<ValuesInput>;',
    '',
  ].join('\n')
}

function typeOf(schema: ValueSchema, indent: string): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map((inner) => typeOf(inner, indent)).join(' | ')
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`
  if (schema.type === 'object') return objectType(schema, indent)
  return schema.type === 'integer' ? 'number' : (schema.type ?? 'unknown')
}

function objectType({ properties, required = [], additionalProperties }: ValueSchema, indent: string): string {
  if (properties === undefined || typeof additionalProperties === 'object') {
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'}>`
  }
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, inner)
    return `${comment(schema, inner)}${inner}${name}${required.includes(name) ? `: ${type}` : `?: ${type} | undefined`};\n`
  })
  const others = additionalProperties === false ? '' : `${inner}[other: string]: unknown;\n`
  return `{\n${members.join('')}${others}${indent}}`
}

function comment({ properties, description, default: defaultValue }: ValueSchema, indent: string): string {
  if (description === undefined) return ''
  // The schema's default of a value that "defaults to" another one only marks it as absent.
  const hasOwnDefault = defaultValue !== undefined && properties === undefined && !description.includes('Defaults to')
  const text = hasOwnDefault ? `${description} Default: ${JSON.stringify(defaultValue)}.` : description
  return `${indent}/** ${text.replaceAll('*/', '* /')} */\n`
}
