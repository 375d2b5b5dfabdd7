/**
 * The chart's `values.yaml` and `values.schema.json`, from the one schema of the values. Pure.
 */
import { quantityPattern } from '../../runtime/gatewaysync/quantity.ts'
import { inputSchema, takesNumberOrText, type ValueSchema } from './live-values.ts'

/** Every key with its default, under a comment that says what it means. */
export function valuesYaml(): string {
  const head = ['# Every value of the installation with its default. What is wrong is refused with the name of its key.', '']
  return [...head, ...keys(inputSchema(), '')].join('\n') + '\n'
}

function keys({ properties = {} }: ValueSchema, indent: string): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0)
      return [`${indent}${name}:`, ...keys(schema, `${indent}  `)]
    const choices = schema.enum === undefined ? '' : ` One of ${schema.enum.map((value) => String(value) || '""').join(', ')}.`
    return [`${indent}# ${schema.description ?? ''}${choices}`, `${indent}${name}: ${JSON.stringify(schema.default)}`]
  })
}

/** Draft 7, which Helm takes. Every key is required, because Helm checks what a user sets together with the defaults. */
export function valuesSchemaJson(): string {
  const schema = closed(inputSchema())
  // Helm adds this one to the values of a chart that another chart depends on.
  const properties = { ...schema.properties, global: { type: 'object', description: 'Values of the whole installation; none is read.' } }
  return JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema, properties }, undefined, 2) + '\n'
}

function closed(schema: ValueSchema): ValueSchema {
  if (takesNumberOrText(schema))
    return {
      ...schema,
      anyOf: [
        { type: 'string', pattern: quantityPattern.source },
        { type: 'number', minimum: 0 },
      ],
    }
  const { propertyNames, ...others } = schema
  const { properties, additionalProperties, items } = others
  return {
    ...others,
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(additionalProperties === undefined ? {} : namedMembers(additionalProperties, propertyNames)),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
          required: requiredOf(schema),
        }),
  }
}

/** Members of free names. Of a name that `propertyNames` forbids, Helm would tell another place than it has. */
function namedMembers(of: ValueSchema | boolean, names: ValueSchema = {}): ValueSchema {
  const additionalProperties = typeof of === 'object' ? closed(of) : of
  if (names.pattern === undefined) return { additionalProperties }
  return { patternProperties: { [names.pattern]: additionalProperties }, additionalProperties: false }
}

/** A key with a default is there; of others the schema itself says. */
function requiredOf({ properties = {}, required = [] }: ValueSchema): string[] {
  return Object.keys(properties).filter((name) => required.includes(name) || properties[name]?.default !== undefined)
}
