/**
 * How many letters two names differ by: for what somebody may have meant. Pure.
 */

/**
 * The letters to add, remove, replace or swap with their neighbour (optimal string alignment). Takes as many steps as the product of both
 * lengths: whoever asks bounds one of them.
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
