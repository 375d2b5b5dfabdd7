/**
 * Keeps one copy of strings that occur in thousands of objects: each answer of the API server brings its own copies.
 */

/** How many strings are remembered: far fewer repeated ones are in use at a time, and unique ones would fill any table. */
const mostKnown = 4_000

/** Returns a function that replaces strings in an object, at any depth, by equal ones that it has seen before. */
export function createSharing(most = mostKnown): (record: object) => void {
  const known = new Map<string, string>()
  const shared = (text: string): string => {
    const earlier = known.get(text)
    if (earlier !== undefined) return earlier
    if (known.size >= most) known.clear()
    known.set(text, text)
    return text
  }
  const share = (record: object): void => {
    for (const [key, member] of Object.entries(record) as [string, unknown][]) {
      if (typeof member === 'string') (record as Record<string, unknown>)[key] = shared(member)
      else if (typeof member === 'object' && member !== null) share(member)
    }
  }
  return share
}
