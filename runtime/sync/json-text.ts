/**
 * Where each value stands in a JSON text, so that one can be replaced while every other byte stays: order, spacing, the digits of large
 * numbers. The text must be valid JSON already. Pure.
 */

export type Span = { start: number; end: number; type: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array' }

type Node = Span & { members: Map<string, Node> | undefined; items: Node[] | undefined }

/** Finds the values at some locations; of repeated names the last counts, as in JSON.parse. Where there is none, none is in the result. */
export function findSpans(text: string, locations: readonly (readonly (string | number)[])[]): Span[] {
  if (locations.length === 0) return []
  const root = parse(text)
  return locations.flatMap((location) => {
    let node: Node | undefined = root
    for (const step of location) node = typeof step === 'number' ? node?.items?.[step] : node?.members?.get(step)
    return node === undefined ? [] : [{ start: node.start, end: node.end, type: node.type }]
  })
}

function parse(text: string): Node {
  let at = 0
  const skip = (): void => {
    while (/[\s\uFEFF]/.test(text[at] ?? '')) at += 1
  }
  const value = (): Node => {
    skip()
    const start = at
    const character = text[at]
    if (character === '{') return object(start)
    if (character === '[') return array(start)
    if (character === '"') return leaf(start, stringEnd(), 'string')
    const word = /[^\s,\]}]*/y
    word.lastIndex = at
    const token = word.exec(text)?.[0] ?? ''
    const type = token === 'null' ? 'null' : token === 'true' || token === 'false' ? 'boolean' : 'number'
    return leaf(start, start + Math.max(token.length, 1), type)
  }
  const leaf = (start: number, end: number, type: Span['type']): Node => {
    at = end
    return { start, end, type, members: undefined, items: undefined }
  }
  const stringEnd = (): number => {
    let end = at + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    return end + 1
  }
  const object = (start: number): Node => {
    const members = new Map<string, Node>()
    at += 1
    for (skip(); at < text.length && text[at] !== '}'; skip()) {
      if (text[at] === ',') {
        at += 1
        continue
      }
      const nameStart = at
      at = stringEnd()
      const name = JSON.parse(text.slice(nameStart, at)) as string
      skip()
      at += 1
      members.set(name, value())
    }
    at += 1
    return { start, end: at, type: 'object', members, items: undefined }
  }
  const array = (start: number): Node => {
    const items: Node[] = []
    at += 1
    for (skip(); at < text.length && text[at] !== ']'; skip()) {
      if (text[at] === ',') at += 1
      else items.push(value())
    }
    at += 1
    return { start, end: at, type: 'array', members: undefined, items }
  }
  return value()
}
