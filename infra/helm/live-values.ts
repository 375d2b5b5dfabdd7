/**
 * The installation values as Helm knows them: the tree of the schema with an expression at each leaf. Pure.
 */
import { toJsonSchema } from '@valibot/to-json-schema'
import { type Values, valuesSchema } from '../values.ts'
import { asText, asTexts } from './combinators.ts'
import { Expression, type Live, Structure } from './expression.ts'

/** A JSON schema, as far as it is read here. */
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
  /** Objects that one member tells apart. */
  oneOf?: ValueSchema[]
  pattern?: string
  minimum?: number
  maximum?: number
  minItems?: number
}

/** What a user may write, as JSON schema; checks that are more than a grammar are left to the table of combinations. */
export function inputSchema(): ValueSchema {
  return toJsonSchema(valuesSchema, { typeMode: 'input', errorMode: 'ignore' }) as ValueSchema
}

/** `$.Values.image.tag` and all others. */
export function liveValues(): Live<Values> {
  return live(inputSchema(), '$.Values') as Live<Values>
}

function live(schema: ValueSchema, text: string): unknown {
  const { properties, additionalProperties, type } = schema
  if (properties !== undefined && Object.keys(properties).length > 0)
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, live(inner, `${text}.${name}`)]))
  if (takesNumberOrText(schema)) return asText(new Expression(text))
  if (typeof additionalProperties === 'object' && takesNumberOrText(additionalProperties)) return asTexts(new Expression(text))
  return type === 'array' || type === 'object' ? new Structure(text) : new Expression(text)
}

/** A quantity: the validation makes a text of it. */
export function takesNumberOrText({ anyOf = [] }: ValueSchema): boolean {
  return ['string', 'number'].every((type) => anyOf.some((one) => one.type === type))
}
