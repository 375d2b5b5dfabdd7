/**
 * Cycles among names that refer to each other: parents of collections and projects, tag types. Pure.
 */

/**
 * Returns each cycle once, starting with its first name in order; of several cycles through the same names, one. `next` returns the names that a
 * name refers to. Takes linear time and does not recurse, because a hostile repository may chain any number of names.
 */
export function findCycles(names: Iterable<string>, next: (name: string) => Iterable<string>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  for (const start of [...names].toSorted()) {
    if (done.has(start)) continue
    const trail = [{ name: start, ways: [...next(start)] }]
    const places = new Map([[start, 0]])
    for (let last = trail.at(-1); last !== undefined; last = trail.at(-1)) {
      const way = last.ways.shift()
      if (way === undefined) {
        done.add(last.name)
        places.delete(last.name)
        trail.pop()
        continue
      }
      const place = places.get(way)
      if (place !== undefined) cycles.push(fromFirst(trail.slice(place).map(({ name }) => name)))
      else if (!done.has(way)) {
        places.set(way, trail.length)
        trail.push({ name: way, ways: [...next(way)] })
      }
    }
  }
  return cycles
}

function fromFirst(cycle: string[]): string[] {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? '')
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}

const maxShown = 10

/** Formats a cycle for a message. */
export function shownCycle(cycle: readonly string[]): string {
  const [first = ''] = cycle
  const names = cycle.length > maxShown ? [...cycle.slice(0, maxShown), '…'] : cycle
  return [...names, first].map((name) => name.slice(0, 80)).join(' -> ')
}
