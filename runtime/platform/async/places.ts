/**
 * Places that tenants share, for work that is refused instead of waiting: a tenant may have twice as many as are free, and a tenant without
 * any also gets one of a reserve of a quarter, because some tenants together could leave none free.
 */
export class Places {
  readonly #max: number
  readonly #reserve: number
  readonly #taken = new Set<{ tenant: string }>()

  /** `max`: without the reserve. */
  constructor(max: number) {
    this.#max = max
    this.#reserve = Math.ceil(max / 4)
  }

  /** How many are taken. */
  get size(): number {
    return this.#taken.size
  }

  /** Returns a function that frees the place, also when called twice; undefined: there is none for the tenant. */
  take(tenant: string): (() => void) | undefined {
    const own = [...this.#taken].filter((place) => place.tenant === tenant)
    const isFirst = own.length === 0 && this.size < this.#max + this.#reserve
    if (!isFirst && own.length >= 2 * (this.#max - this.size)) return undefined
    const place = { tenant }
    this.#taken.add(place)
    return () => void this.#taken.delete(place)
  }
}
