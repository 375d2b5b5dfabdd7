/**
 * A bounded cache that tenants share: when it is full, the tenant that holds the most loses its least recently used entry, so that none
 * replaces the entries of others.
 */

type Options = {
  /** Maximum total size of all entries; by default an entry has size 1. */
  max: number
  /** How long an entry is kept. Default: until it is replaced. */
  ttlMs?: number
  clock?: { monotonicMs(): number }
}

/** The overhead of an entry. */
const entryBytes = 1024

type Entry<Value> = { owner: string; value: Value; size: number; untilMs: number }
/** What a cache hands over to another one. */
export type CacheEntry<Value> = { key: string; owner: string; value: Value; size: number }
/** `keys`: the least recently used first. */
type Holding = { keys: Set<string>; size: number }

export class FairCache<Value> {
  readonly #max: number
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #holdings = new Map<string, Holding>()
  #size = 0

  constructor({ max, ttlMs = Infinity, clock }: Options) {
    this.#max = max
    this.#ttlMs = ttlMs
    this.#now = () => clock?.monotonicMs() ?? 0
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs <= this.#now()) {
      this.delete(key)
      return undefined
    }
    const { keys } = this.#holdingOf(entry.owner)
    keys.delete(key)
    keys.add(key)
    return entry.value
  }

  /** `owner`: the tenant to which the entry counts, never a name that a tenant chooses. An entry larger than the maximum is not kept. */
  set(owner: string, key: string, value: Value, { size = 1, ttlMs = this.#ttlMs }: { size?: number; ttlMs?: number } = {}): void {
    this.delete(key)
    if (size > this.#max) return
    this.#entries.set(key, { owner, value, size, untilMs: this.#now() + ttlMs })
    const holding = this.#holdingOf(owner)
    holding.keys.add(key)
    holding.size += size
    this.#holdings.set(owner, holding)
    this.#size += size
    while (this.#size > this.#max) this.#evict()
  }

  /** Each tenant's least recently used entries come first. */
  *entries(): Generator<CacheEntry<Value>> {
    for (const [owner, { keys }] of this.#holdings) {
      for (const key of keys) {
        const entry = this.#entries.get(key)
        if (entry !== undefined) yield { key, owner, value: entry.value, size: entry.size }
      }
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#size -= entry.size
    const holding = this.#holdingOf(entry.owner)
    holding.keys.delete(key)
    holding.size -= entry.size
    if (holding.keys.size === 0) this.#holdings.delete(entry.owner)
  }

  #holdingOf(owner: string): Holding {
    return this.#holdings.get(owner) ?? { keys: new Set(), size: 0 }
  }

  /** Visits every tenant: 60 µs for a thousand, and no tenant decides how many there are. */
  #evict(): void {
    const [first = { keys: new Set<string>(), size: 0 }, ...rest] = this.#holdings.values()
    const [oldest] = rest.reduce((largest, holding) => (holding.size > largest.size ? holding : largest), first).keys
    if (oldest !== undefined) this.delete(oldest)
  }
}

/**
 * Caches a promise whose value has its own size: as 1 KiB until it is known, then as 1 KiB more than `sizeOf` returns. A rejected one is
 * kept too.
 */
export function keepPromise<Known>(
  cache: FairCache<Promise<Known>>,
  { owner, key }: { owner: string; key: string },
  value: Promise<Known>,
  sizeOf: (known: Known) => number,
): void {
  cache.set(owner, key, value, { size: entryBytes })
  value.then(
    (known) => {
      if (cache.get(key) === value) cache.set(owner, key, value, { size: entryBytes + sizeOf(known) })
    },
    () => undefined,
  )
}
