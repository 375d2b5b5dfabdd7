/**
 * The chart's `values.yaml` and `values.schema.json`, from the one schema of the values. Pure.
 */
import { quantityPattern } from '../../runtime/api/quantity.ts'
import { inputSchema, takesNumberOrText, type ValueSchema } from '../values/json-schema.ts'

/** Every key with its default, below a comment with its meaning. */
export function valuesYaml(): string {
  const head = ['# Every value of the installation with its default. Invalid values are refused; the error names the key.', '']
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

/** Draft 7, which Helm supports. Every key is required, because Helm validates the values after it has merged the defaults. */
export function valuesSchemaJson(): string {
  const schema = closed(inputSchema())
  const properties = {
    ...schema.properties,
    // Helm adds this key to the values of subcharts.
    global: { type: 'object', description: 'Global values of the parent chart; not used.' },
    // The usual key of the `condition` with which a parent chart enables this one.
    enabled: { type: 'boolean', description: 'Used in the condition of a parent chart; not used here.' },
  }
  return JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema, properties }, undefined, 2) + '\n'
}

function closed(schema: ValueSchema): ValueSchema {
  if (takesNumberOrText(schema))
    return {
      ...schema,
      anyOf: [
        { type: 'string', pattern: quantityPattern.source },
        { type: 'number', minimum: 0 },
        ...(isRemovable(schema) ? [{ type: 'null' }] : []),
      ],
    }
  const { propertyNames, ...others } = schema
  const { properties, additionalProperties, items } = others
  return {
    ...others,
    // Helm fills in the defaults of values, but not those of list elements.
    ...(items === undefined ? {} : { items: { ...closed(items), ...(items.properties && { required: items.required ?? [] }) } }),
    ...(additionalProperties === undefined ? {} : namedMembers(additionalProperties, propertyNames)),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
          required: requiredOf(schema),
        }),
  }
}

/** A map with arbitrary keys. For a key that `propertyNames` forbids, Helm would report a wrong path. */
function namedMembers(of: ValueSchema | boolean, names: ValueSchema = {}): ValueSchema {
  const additionalProperties = typeof of === 'object' ? closed(of) : of
  if (names.pattern === undefined) return { additionalProperties }
  return { patternProperties: { [names.pattern]: additionalProperties }, additionalProperties: false }
}

/** Keys with a default, unless `null` can remove them. */
function requiredOf({ properties = {}, required = [] }: ValueSchema): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    required.includes(name) || (schema.default !== undefined && !isRemovable(schema)) ? [name] : [],
  )
}

/** Whether `null` removes the default. */
function isRemovable({ anyOf = [] }: ValueSchema): boolean {
  return anyOf.some(({ type }) => type === 'null')
}
