/**
 * The schema of the values as JSON schema, for the chart, the documentation and the package's types. Pure.
 */
import { toJsonSchema } from '@valibot/to-json-schema'
import { valuesSchema } from '../values.ts'

/** The parts of a JSON schema that are read here. */
export type ValueSchema = {
  type?: string
  enum?: unknown[]
  description?: string
  default?: unknown
  properties?: Record<string, ValueSchema>
  required?: string[]
  additionalProperties?: ValueSchema | boolean
  propertyNames?: ValueSchema
  patternProperties?: Record<string, ValueSchema | boolean>
  items?: ValueSchema
  anyOf?: ValueSchema[]
  /** Objects that differ by one member. */
  oneOf?: ValueSchema[]
  pattern?: string
  minimum?: number
  maximum?: number
  minItems?: number
}

/** What a user may write. Checks beyond a grammar are in values/combinations.ts. */
export function inputSchema(): ValueSchema {
  return toJsonSchema(valuesSchema, { typeMode: 'input', errorMode: 'ignore' }) as ValueSchema
}

/** Whether it is a quantity, which YAML may read as a number. */
export function takesNumberOrText({ anyOf = [] }: ValueSchema): boolean {
  return ['string', 'number'].every((type) => anyOf.some((one) => one.type === type))
}
