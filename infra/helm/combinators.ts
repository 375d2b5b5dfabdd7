/**
 * What the constructs compute of values: at once where every value is known, else as an expression for Helm. The two halves of each
 * combinator mean the same; a property test renders generated values both ways. Pure.
 */
import { call, type Definitions, Expression, Formatted, include, isExpression, Structure, structure, type Value } from './expression.ts'
import { isDeepStrictEqual } from 'node:util'
import { amountOf } from '../../runtime/gatewaysync/quantity.ts'
import { millisecondsOf } from '../values/duration.ts'
import {
  amountTemplate,
  chartTemplate,
  mergeTemplate,
  millisecondsTemplate,
  pluckTemplate,
  presentTemplate,
  textsTemplate,
  textTemplate,
} from './templates.ts'

/** What a template may be asked about emptiness: '' [] {} are empty. */
export type Sized = string | readonly unknown[] | Readonly<Record<string, unknown>>

/** `!condition`, now or in the chart. */
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

/** True when one of the conditions is; false of none. */
export function or(...conditions: readonly Value<boolean>[]): Value<boolean> {
  if (conditions.includes(true)) return true
  return combined('or', conditions.filter(isExpression), false)
}

function combined(name: string, conditions: readonly Value<boolean>[], none: boolean): Value<boolean> {
  const [first, ...others] = conditions
  if (first === undefined) return none
  return others.length === 0 ? first : call(name, ...conditions)
}

/** Whether two texts are the same. */
export function equals<T extends string>(a: Value<T>, b: Value<T>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('eq', a, b) : a === b
}

/** Whether a value is a known one, of whatever shape. */
export function same(value: Value<unknown>, known: unknown): Value<boolean> {
  return isExpression(value) ? call('eq', call('toRawJson', value), JSON.stringify(known)) : isDeepStrictEqual(value, known)
}

/** Helm reads a number from a file as a fraction and one of `--set` as an integer, which `eq` and `gt` do not compare. */
const fraction = (value: Value<number>): Value<number> =>
  isExpression(value) && value.text.startsWith('(float64 ') ? value : call('float64', value)

/** Whether two numbers are the same, however Helm has read them. */
export function sameNumber(a: Value<number>, b: Value<number>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('eq', fraction(a), fraction(b)) : a === b
}

/** `a > b`, of numbers. */
export function greater(a: Value<number>, b: Value<number>): Value<boolean> {
  return isExpression(a) || isExpression(b) ? call('gt', fraction(a), fraction(b)) : a > b
}

/** Whether there is anything in a text, a list or an object. */
export function isSet(value: Value<Sized>): Value<boolean> {
  if (isExpression(value)) return call('not', call('empty', value))
  return typeof value === 'string' || Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}

/** Whether a text matches. `pattern` must mean the same in JavaScript and in Go's RE2. */
export function matches(pattern: RegExp, value: Value<string>): Value<boolean> {
  return isExpression(value) ? call('regexMatch', pattern.source, value) : pattern.test(value)
}

/** Whether `part` stands in `whole`. */
export function contains(whole: Value<string>, part: Value<string>): Value<boolean> {
  return isExpression(whole) || isExpression(part) ? call('contains', part, whole) : whole.includes(part)
}

/** Whether an object has a member of a name that is not undefined. */
export function hasKey(of: Value<object>, key: Value<string>): Value<boolean> {
  if (isExpression(of) || isExpression(key)) return call('hasKey', of, key)
  return (of as Record<string, unknown>)[key] !== undefined
}

/** A member that is known to be there. */
export function lookup<T>(of: Value<Readonly<Record<string, T>>>, key: Value<string>): Value<T> {
  return isExpression(of) || isExpression(key) ? call('get', of, key) : (of[key] as T)
}

/** Whether a text is in a list. */
export function includes(list: Value<readonly string[]>, element: Value<string>): Value<boolean> {
  return isExpression(list) || isExpression(element) ? call('has', element, list) : list.includes(element)
}

/** What stands in a list before an index. */
export function earlier<T>(list: Value<readonly T[]>, index: Value<number>): Value<readonly T[]> {
  return isExpression(list) || isExpression(index) ? call('slice', list, 0, index) : list.slice(0, index)
}

/** How many elements a list has. */
export function sizeOf(list: Value<readonly unknown[]>): Value<number> {
  return isExpression(list) ? call('len', list) : list.length
}

/** One member of each object of a list. */
export function plucked<Key extends string>(list: Value<readonly Readonly<Record<Key, string>>[]>, key: Key): Value<readonly string[]> {
  if (!isExpression(list)) return list.map((element) => element[key])
  return structure(call('fromJsonArray', include(chartTemplate('plucked'), pluckTemplate, { list, key })))
}

/** `a - b`. */
export function less(a: Value<number>, b: number): Value<number> {
  return isExpression(a) ? call('sub', a, b) : a - b
}

/** One of two values that stand in one place: scalars, lists or objects without markers in them. */
export function either<T>(condition: Value<boolean>, yes: Value<T>, no: Value<T>): Value<T> {
  if (!isExpression(condition)) return condition ? yes : no
  const chosen = call<T>('ternary', yes, no, condition)
  return [yes, no].some((one) => one instanceof Structure || (typeof one === 'object' && !isExpression(one))) ? structure(chosen) : chosen
}

/** A text with values in it. Numbers go through `asText` first. */
export function text(parts: TemplateStringsArray, ...values: readonly Value<string>[]): Value<string> {
  return concatenated(parts.flatMap((part, index) => [part, values[index] ?? '']))
}

/** Texts with a separator between each two. */
export function together(separator: string, parts: readonly Value<string>[]): Value<string> {
  return concatenated(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])))
}

function concatenated(parts: readonly Value<string>[]): Value<string> {
  if (parts.every((part) => typeof part === 'string')) return parts.join('')
  return new Formatted(parts.flatMap((part) => (part instanceof Formatted ? part.parts : [part])))
}

/** A text as JSON writes it. */
export function quoted(value: Value<string>): Value<string> {
  return isExpression(value) ? call('toRawJson', value) : JSON.stringify(value)
}

/** Texts stay, numbers are written as JSON writes them. */
export function asText(value: Value<string | number>): Value<string> {
  if (!isExpression(value)) return String(value)
  return include(chartTemplate('text'), textTemplate, value)
}

/** The bytes of a text as a Secret holds them. */
export function base64(value: Value<string>): Value<string> {
  return isExpression(value) ? call('b64enc', value) : Buffer.from(value).toString('base64')
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

/** An object that many places need: in the chart a named template, so that it is written once. */
export function namedObject<T>(name: string, value: Value<Readonly<Record<string, T>>>): Value<Readonly<Record<string, T>>> {
  return isExpression(value) ? structure(call('fromJson', named(name, call('toRawJson', value)))) : value
}

/** Objects over one another: where keys are the same the last one holds. */
export function merged<T>(...all: readonly Value<Readonly<Record<string, T>>>[]): Value<Readonly<Record<string, T>>> {
  const layers = all.filter((layer) => isExpression(layer) || Object.keys(layer).length > 0)
  const [only = {}] = layers
  if (layers.length < 2) return only
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
  if (isExpression(of)) return parsed('texts', textsTemplate, of, { [chartTemplate('text')]: textTemplate })
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, String(value)]))
}

/** What a named template writes as JSON. `called` are the templates that it calls itself. */
function parsed<T>(name: string, body: string, value: Value<unknown>, called: Definitions = {}): Structure<T> {
  const written = include(chartTemplate(name), body, value)
  return structure(call<T>('fromJson', new Expression(written.text, { ...written.definitions, ...called })))
}

/** Bytes or cores of a quantity. */
export function amount(quantity: Value<string>): Value<number> {
  return isExpression(quantity) ? call('float64', include(chartTemplate('amount'), amountTemplate, quantity)) : amountOf(quantity)
}

/** Length of a duration of Prometheus; 0 for an empty one. */
export function milliseconds(duration: Value<string>): Value<number> {
  if (!isExpression(duration)) return millisecondsOf(duration)
  return call('float64', include(chartTemplate('milliseconds'), millisecondsTemplate, duration))
}
