/**
 * Slots that tenants share, for work that is rejected instead of waiting. A tenant may hold up to twice as many slots as are free. A tenant
 * that holds none may also take one from a reserve of a quarter, because other tenants together could leave none free.
 */
export class TenantSlots {
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

  /** Returns a function that releases the slot and may be called repeatedly; undefined: the tenant gets none. */
  take(tenant: string): (() => void) | undefined {
    const own = [...this.#taken].filter((slot) => slot.tenant === tenant)
    const isFirst = own.length === 0 && this.size < this.#max + this.#reserve
    if (!isFirst && own.length >= 2 * (this.#max - this.size)) return undefined
    const slot = { tenant }
    this.#taken.add(slot)
    return () => void this.#taken.delete(slot)
  }
}
