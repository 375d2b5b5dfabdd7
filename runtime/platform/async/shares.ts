/**
 * Tracks how much of a limited amount its tenants hold, and decides whether a piece of work may start.
 */
import type { Held, Pool, TenantAccount, Work } from './tenant-account.ts'

/** How an amount is divided among tenants. */
export type ShareLimits = {
  /** The amount that all tenants share, including the reserve. A function: the amount may change. */
  total: number | (() => number)
  /** The part of `total` that slow work never takes. Default: 0. */
  reserve?: number
  /** Maximum held by one tenant. A larger piece of work starts when the tenant holds nothing. Default: `total` without the reserve. */
  perTenant?: number
  /** Maximum held by one key of a tenant, however quick it is. Default: any amount. */
  perKey?: number
  /** The reserve is used only when some work has taken this long, because work in it costs more. Default: 0. */
  reserveAfterMs?: number
  /** Work may take this long before it can be aborted for other tenants; slow work may then use the reserve. Default: unlimited. */
  turnMs?: number
}

export class Shares {
  readonly #limits: ShareLimits
  readonly #slowAfterMs: number
  readonly #now: () => number
  readonly #held = { general: 0, reserve: 0 }
  /** The tenants that hold something: few, even when many wait. */
  readonly #holding = new Set<TenantAccount>()
  #total = 0

  constructor(limits: ShareLimits, slowAfterMs: number, now: () => number) {
    this.#limits = limits
    this.#slowAfterMs = slowAfterMs
    this.#now = now
  }

  get total(): number {
    return this.#total
  }

  get taken(): number {
    return this.#held.general + this.#held.reserve
  }

  get isFull(): boolean {
    return this.taken > 0 && this.taken >= this.#total
  }

  /** Reads the total again. */
  measure(): void {
    const { total } = this.#limits
    this.#total = typeof total === 'number' ? total : total()
  }

  hold(work: Work, pool: Pool): Held {
    const { account, key, amount } = work
    const held: Held = { ...work, pool, sinceMs: this.#now(), beganSlow: account.speedOf(key, this.#now()) === 'slow', waitedMs: 0 }
    account.add(held)
    this.#holding.add(account)
    this.#held[pool] += amount
    return held
  }

  /** Returns false if it was released before. */
  release(held: Held): boolean {
    const { account, pool, amount } = held
    if (!account.remove(held, this.#now())) return false
    this.#held[pool] -= amount
    if (account.held === 0) this.#holding.delete(account)
    return true
  }

  /** The pool from which work may take its amount now. `late`: work that has waited too long, which this must not delay further. */
  poolFor(work: Work, late?: Work): Pool | undefined {
    if (this.isLimited(work)) return undefined
    const { reserve = 0, reserveAfterMs = 0 } = this.#limits
    const { general, reserve: reserved } = this.#held
    const free = this.#total - general - reserved
    const fits = work.amount <= free && work.amount <= this.#total - reserve - general
    // One piece of work may always run, however small the total is.
    if ((fits || general + reserved === 0) && !this.#wouldDelay(work, late)) return 'general'
    if (!this.mayUseReserve(work) || this.#longestMs() < reserveAfterMs) return undefined
    return work.amount <= free && work.amount <= reserve - reserved ? 'reserve' : undefined
  }

  /** Whether the work may take its amount from the reserve when that is free. */
  mayUseReserve(work: Work): boolean {
    const speed = work.account.speedOf(work.key, this.#now())
    if (this.isLimited(work) || work.noReserve) return false
    return speed === 'quick' || (work.account.held === 0 && (speed === 'unknown' || this.#limits.turnMs !== undefined))
  }

  /** Whether the work must wait for other work of its tenant, or because it is slow, however much is free. */
  isLimited(work: Work): boolean {
    const { perKey = Infinity } = this.#limits
    const { account, key, amount } = work
    const speed = account.speedOf(key, this.#now())
    if (speed === 'quick') return isOver(account.heldBy(key), amount, perKey)
    if (this.exceedsShare(work)) return true
    const slow = [...this.#holding].reduce((sum, tenant) => sum + tenant.heldSlow(this.#now()), 0)
    return speed === 'slow' && isOver(slow, amount, this.#maxSlow)
  }

  /**
   * Whether the tenant would hold more than its share with this work. A slow key leaves half of the share to the tenant's other keys, and slow
   * work of a tenant leaves space for as much slow work of another one.
   */
  exceedsShare({ account, key, amount }: Work): boolean {
    const { reserve = 0, perTenant = this.#total - reserve, perKey = Infinity } = this.#limits
    const isSlow = account.speedOf(key, this.#now()) === 'slow'
    if (isSlow && isOver(account.heldSlow(this.#now()), amount, this.#maxSlow - amount)) return true
    const ofKey = isSlow ? Math.min(perKey, perTenant / 2) : perKey
    return isOver(account.held, amount, perTenant) || isOver(account.heldBy(key), amount, ofKey)
  }

  /** All slow work leaves twice the reserve to others, unless it takes turns with them. */
  get #maxSlow(): number {
    const { reserve = 0, turnMs } = this.#limits
    return turnMs === undefined ? this.#total - 2 * reserve : this.#total
  }

  /** Slow work lets `late` go first. Other work does too, unless `late` has to wait for slow work in any case. */
  #wouldDelay(work: Work, late: Work | undefined): boolean {
    if (late === undefined || late === work) return false
    const isSlow = work.account.speedOf(work.key, this.#now()) === 'slow'
    return isSlow || this.#longestMs() < this.#slowAfterMs
  }

  /** The duration of the longest running work. */
  #longestMs(): number {
    return Math.max(0, ...[...this.#holding].map(({ longest }) => (longest === undefined ? 0 : this.#now() - longest.sinceMs)))
  }
}

/** Work larger than the maximum starts when nothing is held. */
function isOver(held: number, amount: number, max: number): boolean {
  return held > 0 && held + amount > max
}
