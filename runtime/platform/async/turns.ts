/**
 * Orders waiting items so that namespaces take turns: one with many items delays another by at most one. For work of milliseconds, such as
 * reconciles: a FairLimiter compares all waiting namespaces at each start, which takes 1.4 s of CPU for a thousand of them.
 */
export class Turns<Item> {
  /** In the order of turns; within a namespace, items are in the order of arrival. */
  readonly #namespaces = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How many items of a namespace wait. */
  sizeOf(namespace: string): number {
    return this.#namespaces.get(namespace)?.size ?? 0
  }

  /** The item must not be waiting already. */
  add(namespace: string, item: Item): void {
    const items = this.#namespaces.get(namespace) ?? new Set()
    this.#namespaces.set(namespace, items.add(item))
    this.#size += 1
  }

  /** Makes a namespace the last to get another turn. */
  postpone(namespace: string): void {
    const items = this.#namespaces.get(namespace)
    if (items === undefined) return
    this.#namespaces.delete(namespace)
    this.#namespaces.set(namespace, items)
  }

  /** Removes and returns the next item that may be taken. Its namespace is the last to get another turn. */
  take(mayTake: (item: Item) => boolean = () => true): Item | undefined {
    for (const [namespace, items] of this.#namespaces) {
      for (const item of items) {
        if (!mayTake(item)) continue
        items.delete(item)
        this.#size -= 1
        this.#namespaces.delete(namespace)
        if (items.size > 0) this.#namespaces.set(namespace, items)
        return item
      }
    }
    return undefined
  }
}
