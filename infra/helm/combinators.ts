/**
 * What the constructs compute of values: at once where every value is known, else as an expression for Helm. The two halves of each
 * combinator mean the same; a property test renders generated values both ways. Pure.
 */
import { call, Expression, include, isExpression, Structure, structure, type Value } from './expression.ts'
import { chartTemplate, mergeTemplate, presentTemplate, textsTemplate } from './templates.ts'

/** What a template may be asked about emptiness: '' [] {} are empty. */
export type Sized = string | readonly unknown[] | Readonly<Record<string, unknown>>

export function not(condition: Value<boolean>): Value<boolean> {
  if (!isExpression(condition)) return !condition
  const [, inner] = /^\(not ([^]*)\)$/.exec(condition.text) ?? []
  return inner === undefined ? call('not', condition) : new Expression(inner, condition.definitions)
}

/** Known conditions fall away, so that a template asks only what Helm has to know. */
export function and(...conditions: readonly Value<boolean>[]): Value<boolean> {
  if (conditions.includes(false)) return false
  return combined('and', conditions.filter(isExpression), true)
}

export function or(...conditions: readonly Value<boolean>[]): Value<boolean> {
  if (conditions.includes(true)) return true
  return combined('or', conditions.filter(isExpression), false)
}

function combined(name: string, conditions: readonly Value<boolean>[], none: boolean): Value<boolean> {
  const [first, ...others] = conditions
  if (first === undefined) return none
  return others.length === 0 ? first : call(name, ...conditions)
}

export function equals<T extends string>(a: Value<T>, b: Value<T>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('eq', a, b) : a === b
}

/** Helm reads a number from a file as a fraction and one of `--set` as an integer, which `eq` and `gt` do not compare. */
const fraction = (value: Value<number>): Expression<number> => call('float64', value)

export function sameNumber(a: Value<number>, b: Value<number>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('eq', fraction(a), fraction(b)) : a === b
}

export function greater(a: Value<number>, b: Value<number>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('gt', fraction(a), fraction(b)) : a > b
}

/** Whether there is anything in a text, a list or an object. */
export function isSet(value: Value<Sized>): Value<boolean> {
  if (isExpression(value)) return call('not', call('empty', value))
  return typeof value === 'string' || Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}

export function matches(pattern: RegExp, value: Value<string>): Value<boolean> {
  return isExpression(value) ? call('regexMatch', pattern.source, value) : pattern.test(value)
}

export function contains(whole: Value<string>, part: Value<string>): Value<boolean> {
  return isExpression(whole) || isExpression(part) ? call('contains', part, whole) : whole.includes(part)
}

export function hasKey(of: Value<Readonly<Record<string, unknown>>>, key: string): Value<boolean> {
  return isExpression(of) ? call('hasKey', of, key) : Object.hasOwn(of, key)
}

/** One of two values that stand in one place: scalars, lists or objects without markers in them. */
export function either<T>(condition: Value<boolean>, yes: Value<T>, no: Value<T>): Value<T> {
  if (!isExpression(condition)) return condition ? yes : no
  const chosen = call<T>('ternary', yes, no, condition)
  return yes instanceof Structure || no instanceof Structure ? structure(chosen) : chosen
}

/** A text with values in it. Numbers go through `asText` first. */
export function text(parts: TemplateStringsArray, ...values: readonly Value<string>[]): Value<string> {
  if (!values.some(isExpression)) return String.raw({ raw: parts }, ...values)
  const known = parts.map((part, index) => part.replaceAll('%', '%%') + placeholder(values[index]))
  return call('printf', known.join(''), ...values.filter(isExpression))
}

function placeholder(value: Value<string> | undefined): string {
  return isExpression(value) ? '%s' : (value ?? '').replaceAll('%', '%%')
}

/** Texts stay, numbers are written as JSON writes them. */
export function asText(value: Value<string | number>): Value<string> {
  if (!isExpression(value)) return String(value)
  return call('ternary', value, call('toRawJson', value), call('kindIs', 'string', value))
}

export function joined(separator: string, list: Value<readonly string[]>): Value<string> {
  return isExpression(list) ? call('join', separator, list) : list.join(separator)
}

/** The first letters, without hyphens at the end. */
export function cut(value: Value<string>, length: number): Value<string> {
  if (!isExpression(value)) return value.slice(0, length).replace(/-+$/, '')
  return call('regexReplaceAll', '-+$', call('trunc', length, value), '')
}

/** A text that many places need: in the chart a named template, so that it is written once. */
export function named(name: string, value: Value<string>): Value<string> {
  if (!isExpression(value)) return value
  const template = chartTemplate(name)
  return new Expression(`(include ${JSON.stringify(template)} $)`, { ...value.definitions, [template]: `{{- ${value.text} -}}` })
}

/** Objects over one another: where keys are the same the last one holds. */
export function merged<T>(...layers: readonly Value<Readonly<Record<string, T>>>[]): Value<Readonly<Record<string, T>>> {
  if (!layers.some((layer) => isExpression(layer) || Object.values(layer).some(isExpression)))
    return Object.assign({}, ...layers) as Record<string, T>
  return parsed('merged', mergeTemplate, layers)
}

/** An object without the members whose text is empty. */
export function withoutEmpty(of: Value<Readonly<Record<string, string>>>): Value<Readonly<Record<string, string>>> {
  if (isExpression(of)) return parsed('withoutEmpty', presentTemplate, of)
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== ''))
}

/** An object whose numbers are texts, as `asText` writes them. */
export function asTexts(of: Value<Readonly<Record<string, string | number>>>): Value<Readonly<Record<string, string>>> {
  if (isExpression(of)) return parsed('texts', textsTemplate, of)
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, String(value)]))
}

function parsed<T>(name: string, body: string, value: Value<unknown>): Structure<T> {
  return structure(call<T>('fromJson', include(chartTemplate(name), body, value)))
}
