/**
 * Finds the positions of values in a JSON text, so that they can be replaced while every other byte stays: order, spacing, the digits of
 * large numbers. The text must be valid JSON. Values that are not requested are skipped and cost no memory. Pure.
 */

/** `text.slice(start, end)` is the value at `location`. */
export type Span = { location: Location; start: number; end: number; type: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array' }

type Location = readonly (string | number)[]

/** The locations as a tree; `here`: the value itself is requested, by this location. */
type LocationTree = { here: Location | undefined; below: Map<string | number, LocationTree> }

/** Returns the existing values at locations (paths of names and indexes). Of duplicate names the last counts, as in JSON.parse. */
export function findSpans(text: string, locations: readonly Location[]): Span[] {
  return locations.length === 0 ? [] : spansIn(text, locationTree(locations))
}

/** Whether a document holds more than `limit` values; counts them without parsing. */
export function holdsMoreValues(text: string, limit: number): boolean {
  let count = 1
  for (let at = 0; at < text.length;) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else {
      if (character === ',' || character === '{' || character === '[') count += 1
      if (count > limit) return true
      at += 1
    }
  }
  return false
}

function locationTree(locations: readonly Location[]): LocationTree {
  const root: LocationTree = { here: undefined, below: new Map() }
  for (const location of locations) {
    let node = root
    for (const step of location) {
      const next = node.below.get(step) ?? { here: undefined, below: new Map() }
      node.below.set(step, next)
      node = next
    }
    node.here = location
  }
  return root
}

function spansIn(text: string, root: LocationTree): Span[] {
  let at = 0
  const skipSpace = (): void => {
    while (/[\s\uFEFF]/.test(text[at] ?? '')) at += 1
  }
  const value = (tree: LocationTree | undefined): Span[] => {
    skipSpace()
    const start = at
    const type = typeAt(text, start)
    const inside =
      tree !== undefined && tree.below.size > 0
        ? type === 'object'
          ? object(tree)
          : type === 'array'
            ? array(tree)
            : undefined
        : undefined
    if (inside === undefined) at = endOfValue(text, start)
    const found = inside ?? []
    if (tree?.here !== undefined) found.push({ location: tree.here, start, end: at, type })
    return found
  }
  const object = (tree: LocationTree): Span[] => {
    const found = new Map<string, Span[]>()
    at += 1
    for (skipSpace(); at < text.length && text[at] !== '}'; skipSpace()) {
      if (text[at] === ',') {
        at += 1
        continue
      }
      const nameStart = at
      at = endOfString(text, at)
      const name = JSON.parse(text.slice(nameStart, at)) as string
      skipSpace()
      at += 1
      const below = tree.below.get(name)
      const spans = value(below)
      if (below !== undefined) found.set(name, spans)
    }
    at += 1
    return [...found.values()].flat()
  }
  const array = (tree: LocationTree): Span[] => {
    const found: Span[] = []
    let index = 0
    at += 1
    for (skipSpace(); at < text.length && text[at] !== ']'; skipSpace()) {
      if (text[at] === ',') at += 1
      else {
        for (const span of value(tree.below.get(index))) found.push(span)
        index += 1
      }
    }
    at += 1
    return found
  }
  return value(root)
}

function typeAt(text: string, at: number): Span['type'] {
  const first = text[at]
  if (first === '{') return 'object'
  if (first === '[') return 'array'
  if (first === '"') return 'string'
  if (first === 't' || first === 'f') return 'boolean'
  return first === 'n' ? 'null' : 'number'
}

/** Returns the index after the value that begins here, without a call per level. */
export function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length;) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
      if (depth === 0) return at
      continue
    }
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      // The end of the value that contains this word or number.
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && at > start && /[\s,]/.test(character ?? '')) return at
    at += 1
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end + 1
}
