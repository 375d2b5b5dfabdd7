/**
 * Keeps one copy of strings, and of small objects such as the labels of a pod, that occur in thousands of objects: each answer of the API
 * server brings its own copies.
 */

/** How many are remembered: far fewer repeated ones are in use at a time, and unique ones would fill any table. */
const mostKnown = 4_000
/** Larger objects are seldom equal, and comparing them takes time. */
const mostMembers = 16

/**
 * Returns a function that replaces strings in an object, at any depth, and objects of strings, numbers and booleans alone, by equal ones that it
 * has seen before. Nobody may change what was shared.
 */
export function createSharing(most = mostKnown): (record: object) => void {
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

/** Returns a function that tells the value that came first with a key. */
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

/** A member of undefined is left out of the JSON by which objects are compared. */
function isLeaf(object: object): boolean {
  const members = Object.values(object) as unknown[]
  const isSimple = (value: unknown): boolean =>
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return (
    !Array.isArray(object) && Object.getPrototypeOf(object) === Object.prototype && members.length <= mostMembers && members.every(isSimple)
  )
}
