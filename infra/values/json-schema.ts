/**
 * The schema of the values as JSON schema, for the chart, the documentation and the package's types. Pure.
 */
import { toJsonSchema } from '@valibot/to-json-schema'
import { valuesSchema } from '../values.ts'

/** The parts of a JSON schema that this project uses. */
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
  /** Objects that are distinguished by one field. */
  oneOf?: ValueSchema[]
  pattern?: string
  minimum?: number
  maximum?: number
  minItems?: number
}

/** The schema of valid input. values/combinations.ts checks what a schema cannot express. */
export function inputSchema(): ValueSchema {
  return toJsonSchema(valuesSchema, { typeMode: 'input', errorMode: 'ignore' }) as ValueSchema
}

/** Whether the value is a quantity, which YAML may parse as a number. */
export function takesNumberOrText({ anyOf = [] }: ValueSchema): boolean {
  return ['string', 'number'].every((type) => anyOf.some((one) => one.type === type))
}
