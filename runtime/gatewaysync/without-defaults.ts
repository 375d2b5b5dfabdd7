/**
 * Compares a document with its schema: which members its author really set, and which ones the schema does not know. Both walk the schema
 * itself, so that a new field needs no change here. Pure.
 */
import { canonicalJson } from './canonical-json.ts'

/** As much of a valibot schema as is walked. */
type Shape = {
  readonly type: string
  readonly entries?: Readonly<Record<string, Shape>>
  readonly wrapped?: Shape
  readonly default?: unknown
  readonly item?: Shape
  readonly value?: Shape
}

/**
 * The value without the members that equal their default, at any depth: members left out and members filled in give the same result, so that
 * adding a field to the schema changes nothing for older documents. Members that the schema does not know stay.
 */
export function withoutDefaults(schema: unknown, value: unknown): unknown {
  const { shape } = unwrapped(schema as Shape)
  if (Array.isArray(value)) return shape.item === undefined ? value : value.map((item) => withoutDefaults(shape.item, item))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === undefined) return []
      const child = childOf(shape, name)
      if (child === undefined) return [[name, member]]
      const told = withoutDefaults(child, member)
      const usual = unwrapped(child).fallback
      const isUsual = usual !== undefined && canonicalJson(told) === canonicalJson(withoutDefaults(child, usual))
      return isUsual ? [] : [[name, told]]
    }),
  )
}

/** The members that the schema does not know, each as a path such as `sync.defaults.drift`. */
export function unknownMembers(schema: unknown, value: unknown, path = ''): string[] {
  const { shape } = unwrapped(schema as Shape)
  if (Array.isArray(value)) {
    return shape.item === undefined ? [] : value.flatMap((item, index) => unknownMembers(shape.item, item, `${path}[${index}]`))
  }
  if (!isRecord(value) || (shape.entries === undefined && shape.value === undefined)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    const child = childOf(shape, name)
    return child === undefined ? [at] : unknownMembers(child, member, at)
  })
}

/** The members that a schema names, each with its own members; maps and lists have none. */
export type Members = ReadonlyMap<string, Members>

/** The whole tree of names, to find members that an installed CRD lacks. */
export function membersOf(schema: unknown): Members {
  const { shape } = unwrapped(schema as Shape)
  return new Map(Object.entries(shape.entries ?? {}).map(([name, child]) => [name, membersOf(child)]))
}

/** The names that a schema allows at a path such as `sync.profiles.default.mappings[0]`; empty when the path leads nowhere. */
export function membersAt(schema: unknown, path: string): string[] {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '')
  let shape: Shape | undefined = unwrapped(schema as Shape).shape
  for (const step of steps) {
    const child: Shape | undefined = shape.item ?? childOf(shape, step)
    if (child === undefined) return []
    shape = unwrapped(child).shape
  }
  return Object.keys(shape.entries ?? {})
}

function childOf({ entries, value }: Shape, name: string): Shape | undefined {
  if (entries !== undefined) return Object.hasOwn(entries, name) ? entries[name] : undefined
  return value
}

/** The schema inside `optional` and similar wrappers, and their default. */
function unwrapped(schema: Shape): { shape: Shape; fallback: unknown } {
  let shape = schema
  let fallback: unknown
  while (shape.wrapped !== undefined) {
    fallback ??= shape.default
    shape = shape.wrapped
  }
  return { shape, fallback }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
