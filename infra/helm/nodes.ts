/**
 * What of an object depends on values: members that may be missing, elements that may repeat. With known values these are plain members
 * and elements; with expressions they are markers, which only the emitter reads. Pure.
 */
import { isSet, type Sized } from './combinators.ts'
import { Expression, isExpression, type Value } from './expression.ts'

/** Elements of a list, or the value of a member, that are there when a condition holds. */
export class Conditional {
  readonly condition: Expression<boolean>
  readonly content: unknown

  constructor(condition: Expression<boolean>, content: unknown) {
    this.condition = condition
    this.content = content
  }
}

/** One of two trees in one place. */
export class Choice {
  readonly condition: Expression<boolean>
  readonly yes: unknown
  readonly no: unknown

  constructor(condition: Expression<boolean>, yes: unknown, no: unknown) {
    this.condition = condition
    this.yes = yes
    this.no = no
  }
}

/** An element for every element of a list or member of an object; the template calls it by the name, its index or key by `…Key`. */
export class Repeated {
  readonly list: Expression<Sized>
  readonly variable: string
  readonly content: unknown

  constructor(list: Expression<Sized>, variable: string, content: unknown) {
    this.list = list
    this.variable = variable
    this.content = content
  }
}

/** A tree as one text of JSON. */
export class JsonText {
  readonly name: string
  readonly tree: unknown

  constructor(name: string, tree: unknown) {
    this.name = name
    this.tree = tree
  }
}

/** Lines for a reader, each there on its condition. */
export type Messages = Value<string>[]

/** Elements of a list, to be spread into it, that are there when the condition holds. Of what type they are is said, never guessed. */
export function when<T = never>(condition: Value<boolean>, elements: readonly NoInfer<T>[]): T[] {
  if (isExpression(condition)) return [new Conditional(condition, elements) as T]
  return condition ? [...elements] : []
}

/** Messages that are told when the condition holds. */
export function say(condition: Value<boolean>, messages: Messages): Messages {
  return when<Value<string>>(condition, messages)
}

/** The value of a member that is there when the condition holds. Of what type it is the place says where it stands. */
export function given<T>(condition: Value<boolean>, value: NoInfer<T>): T | undefined {
  if (isExpression(condition)) return new Conditional(condition, value) as T
  return condition ? value : undefined
}

/** The value of a member that is left out while it is empty. */
export function unlessEmpty<T extends Sized>(value: Value<T>): Value<T> | undefined {
  return given(isSet(value), value)
}

/** One of two trees. */
export function choose<T>(condition: Value<boolean>, yes: NoInfer<T>, no: NoInfer<T>): T {
  if (isExpression(condition)) return new Choice(condition, yes, no) as T
  return condition ? yes : no
}

/** Elements of a list, to be spread into it, one for each of the list that is given. `variable` names the element in the template. */
export function each<T, Result>(
  variable: string,
  list: Value<readonly T[]>,
  of: (element: Value<T>, index: Value<number>) => Result,
): Result[] {
  if (!isExpression(list)) return list.map((element, index) => of(element, index))
  return [repeated(list, variable, of)]
}

/** The same for the members of an object, in the order in which they are written; a template takes them by their keys. */
export function eachMember<T, Result>(
  variable: string,
  of: Value<Readonly<Record<string, T>>>,
  to: (key: Value<string>, value: Value<T>) => Result,
): Result[] {
  if (!isExpression(of)) return Object.entries(of).map(([key, value]) => to(key, value))
  return [repeated<T, string, Result>(of, variable, (value, key) => to(key, value))]
}

function repeated<T, Key, Result>(over: Expression<Sized>, variable: string, of: (element: Value<T>, key: Value<Key>) => Result): Result {
  return new Repeated(over, variable, of(new Expression(`$${variable}`), new Expression(`$${variable}Key`))) as Result
}

/** A member of an element that `each` gives. */
export function field<T, Key extends string & keyof T>(of: Value<T>, name: Key): Value<T[Key]> {
  return isExpression(of) ? new Expression(`${of.text}.${name}`) : of[name]
}

/**
 * A tree as JSON in one text, with a line for each member, so that a change of one value is a change of one line. In the chart the tree is
 * a named template of its own.
 */
export function json(name: string, tree: object): string {
  if (!isKnown(tree)) return new JsonText(name, tree) as unknown as string
  const lines = Object.entries(sorted(tree) as object).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `{\n${lines.join(',\n')}\n}`
}

/** Keys in the order in which templates write them. */
function sorted(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(sorted)
  if (typeof tree !== 'object' || tree === null) return tree
  const entries = Object.entries(tree)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, value]) => [key, sorted(value)]))
}

/** Whether nothing of a tree waits for Helm. */
export function isKnown(tree: unknown): boolean {
  if (tree instanceof Expression || tree instanceof Conditional || tree instanceof Choice || tree instanceof Repeated) return false
  return typeof tree !== 'object' || tree === null || Object.values(tree).every(isKnown)
}
