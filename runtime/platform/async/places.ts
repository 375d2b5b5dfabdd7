/**
 * Places that tenants share, for work that is refused instead of waiting: a tenant may have twice as many as are free, so that some stay free
 * for others.
 */
export class Places {
  readonly #max: number
  readonly #taken = new Set<{ tenant: string }>()

  constructor(max: number) {
    this.#max = max
  }

  /** How many are taken. */
  get size(): number {
    return this.#taken.size
  }

  /** Returns a function that frees the place, also when called twice; undefined: there is none for the tenant. */
  take(tenant: string): (() => void) | undefined {
    const own = [...this.#taken].filter((place) => place.tenant === tenant)
    if (own.length >= 2 * (this.#max - this.size)) return undefined
    const place = { tenant }
    this.#taken.add(place)
    return () => void this.#taken.delete(place)
  }
}
