/**
 * Values that are known only when Helm renders the chart. The constructs take each value either as it is (`cdk8s synth`) or as an
 * expression of Go templates (the packaged chart); what is computed of an expression is an expression again. Pure.
 */

/** Named templates that an expression calls: name to body. */
export type Definitions = Readonly<Record<string, string>>

/** Template text that yields a T. It names the root as `$`, so that it means the same everywhere in a template. */
export class Expression<T> {
  readonly text: string
  readonly definitions: Definitions
  declare protected readonly yields: T

  constructor(text: string, definitions: Definitions = {}) {
    this.text = text
    this.definitions = definitions
  }
}

/** An expression that yields a list or an object, which is written in lines of its own. */
export class Structure<T> extends Expression<T> {}

/** An expression that yields a text made of known texts and of other expressions. */
export class Formatted extends Expression<string> {
  readonly parts: readonly Value<string>[]

  constructor(parts: readonly Value<string>[]) {
    const expressions = parts.filter((part) => isExpression(part))
    const format = parts.map((part) => (isExpression(part) ? '%s' : part.replaceAll('%', '%%'))).join('')
    super(`(${['printf', JSON.stringify(format), ...expressions.map(({ text }) => text)].join(' ')})`, definitionsOf(expressions))
    this.parts = parts
  }
}

/** A T that is there, or that Helm will know. */
export type Value<T> = T | Expression<T>

/** A tree of values whose leaves (scalars, lists and objects with free keys) may be expressions. */
export type Live<T> = T extends readonly unknown[]
  ? Value<T>
  : T extends object
    ? string extends keyof T
      ? Value<T>
      : { [Key in keyof T]: Live<T[Key]> }
    : Value<T>

/** What is made of values: any part of a T may be an expression. */
export type Made<T> =
  | Value<T>
  | (T extends readonly (infer Element)[] ? readonly Made<Element>[] : T extends object ? { [Key in keyof T]: Made<T[Key]> } : never)

/** Whether a value is known only when the chart is rendered. */
export function isExpression(value: unknown): value is Expression<unknown> {
  return value instanceof Expression
}

/** An expression that applies a function of the templates to values. */
export function call<T>(name: string, ...values: readonly Value<unknown>[]): Expression<T> {
  return new Expression(`(${[name, ...values.map(textOf)].join(' ')})`, definitionsOf(values))
}

/** An expression that calls a named template with one value; the template's text is the result. */
export function include<T>(name: string, body: string, value: Value<unknown>): Expression<T> {
  return new Expression(`(include ${JSON.stringify(name)} ${textOf(value)})`, { ...definitionsOf([value]), [name]: body })
}

/** The same expression, known to yield a list or an object. */
export function structure<T>({ text, definitions }: Expression<T>): Structure<T> {
  return new Structure(text, definitions)
}

/** Any value as it stands in an action of a template: an expression's text, a literal, a `list` or a `dict`. */
export function textOf(value: Value<unknown>): string {
  if (isExpression(value)) return value.text
  if (Array.isArray(value)) return value.length === 0 ? '(list)' : `(list ${value.map(textOf).join(' ')})`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)} ${textOf(inner)}`)
    return members.length === 0 ? '(dict)' : `(dict ${members.join(' ')})`
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  throw new Error(`a template has no literal for ${typeof value}`)
}

/** Every named template that values need, through lists and objects. */
export function definitionsOf(values: readonly unknown[]): Definitions {
  const found: Record<string, string> = {}
  for (const value of values) {
    if (isExpression(value)) Object.assign(found, value.definitions)
    else if (typeof value === 'object' && value !== null) Object.assign(found, definitionsOf(Object.values(value)))
  }
  return found
}
