/**
 * Deduplicates strings and small objects, such as pod labels, that occur in thousands of objects: each API response brings its own copies.
 */

/** Maximum entries: far fewer repeated values are in use at a time, and unique ones would fill any table. */
const maxKnown = 4_000
/** Larger objects are rarely equal, and comparing them takes time. */
const maxMembers = 16

/**
 * Returns a function that replaces strings in an object, at any depth, and objects of only strings, numbers and booleans, by equal ones
 * seen before. Shared values must not be mutated.
 */
export function createSharing(most = maxKnown): (record: object) => void {
  const strings = createTable<string>(most)
  const leaves = createTable<object>(most)
  const share = (record: object): void => {
    for (const [key, member] of Object.entries(record) as [string, unknown][]) {
      if (typeof member === 'string') (record as Record<string, unknown>)[key] = strings(member, member)
      else if (typeof member === 'object' && member !== null) {
        share(member)
        if (isLeaf(member)) (record as Record<string, unknown>)[key] = leaves(JSON.stringify(member), member)
      }
    }
  }
  return share
}

/** Returns a function that returns the first value seen for a key. */
function createTable<Value>(most: number): (key: string, value: Value) => Value {
  const known = new Map<string, Value>()
  return (key, value) => {
    const earlier = known.get(key)
    if (earlier !== undefined) return earlier
    if (known.size >= most) known.clear()
    known.set(key, value)
    return value
  }
}

/** An undefined member is missing in the JSON used for comparison. */
function isLeaf(object: object): boolean {
  const members = Object.values(object) as unknown[]
  const isSimple = (value: unknown): boolean =>
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return (
    !Array.isArray(object) && Object.getPrototypeOf(object) === Object.prototype && members.length <= maxMembers && members.every(isSimple)
  )
}
