/**
 * Which known key a user may have meant by an unknown one. Pure.
 */
import { editDistance } from '../../runtime/edit-distance.ts'

/** The known key that takes the fewest edits to reach, if they are few; else the one that begins alike for at least half of the key. */
export function nearestTo(key: string, known: readonly string[]): string | undefined {
  const wanted = key.toLowerCase()
  const ranked = known
    .map((name) => ({ name, edits: editDistance(wanted, name.toLowerCase()), begins: commonBeginning(wanted, name.toLowerCase()) }))
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
