/**
 * Measures how similar two names are, to suggest corrections. Pure.
 */

/**
 * Counts letters to add, remove, replace or swap with a neighbor (optimal string alignment). Takes time proportional to the product of both
 * lengths: the caller bounds one of them.
 */
export function editDistance(name: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 0; at < name.length; at += 1) {
    const next = [at + 1]
    for (let index = 1; index <= other.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (name[at] === other[index - 1] ? 0 : 1)
      const isSwapped = at > 0 && index > 1 && name[at] === other[index - 2] && name[at - 1] === other[index - 1]
      const swapped = isSwapped ? (before[index - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/** Returns the known key with the fewest edits, if they are few; else the one with a common prefix of at least half of the key. */
export function nearestTo(key: string, known: readonly string[]): string | undefined {
  const folded = key.toLowerCase()
  const ranked = known
    .map((name) => ({ name, edits: editDistance(folded, name.toLowerCase()), begins: commonBeginning(folded, name.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
  const [closest] = ranked
  if (closest !== undefined && closest.edits <= Math.max(2, Math.floor(key.length / 3))) return closest.name
  const [alike] = ranked.toSorted((a, b) => b.begins - a.begins)
  return alike !== undefined && alike.begins >= Math.max(3, key.length / 2) ? alike.name : undefined
}

function commonBeginning(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}
