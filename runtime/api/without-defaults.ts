import { canonicalJson } from '../platform/text/json.ts'

/** The part of a valibot schema that is walked. */
type Shape = {
  readonly type: string
  readonly entries?: Readonly<Record<string, Shape>>
  readonly wrapped?: Shape
  readonly default?: unknown
  readonly item?: Shape
  readonly value?: Shape
}

/**
 * Returns the value without the members that equal their default, at any depth: omitted members and members with their default produce the
 * same result, so that a new schema field changes nothing for older documents. Unknown members stay.
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
      const explicit = withoutDefaults(child, member)
      const usual = unwrapped(child).fallback
      const isUsual = usual !== undefined && canonicalJson(explicit) === canonicalJson(withoutDefaults(child, usual))
      return isUsual ? [] : [[name, explicit]]
    }),
  )
}

/** Returns the unknown members, each as a path such as `sync.defaults.drift`. */
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

/** The members of a schema, each with its own members; maps and lists have none. */
export type Members = ReadonlyMap<string, Members>

/** Returns the tree of names, to find members that an installed CRD lacks. */
export function membersOf(schema: unknown): Members {
  const { shape } = unwrapped(schema as Shape)
  return new Map(Object.entries(shape.entries ?? {}).map(([name, child]) => [name, membersOf(child)]))
}

/** Returns the names that a schema allows at a path such as `sync.profiles.default.mappings[0]`; empty for an unknown path. */
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

/** Returns the schema inside `optional` and similar wrappers, and their default. */
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
