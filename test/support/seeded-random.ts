/** Pseudorandom numbers from a seed, so that a run can be repeated. */
import { createHash } from 'node:crypto'

/** From 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** `use` separates the numbers of different uses of one seed: the amount that one takes does not affect another. */
export function randomFrom(seed: number, use: string): Random {
  let taken = 0
  return () => {
    taken += 1
    return createHash('sha256').update(`${seed} ${use} ${taken}`).digest().readUInt32BE() / 2 ** 32
  }
}

export function pick<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random() * items.length)]
}

export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
