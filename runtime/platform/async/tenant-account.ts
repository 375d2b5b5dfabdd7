/**
 * Tracks what one tenant of a limiter holds, its recent use, and how quick the work of each of its keys was.
 */
import { LRUCache } from 'lru-cache'

/** `noReserve`: it needs more than the reserve has. */
export type Work = { account: TenantAccount; key: string; amount: number; urgent: boolean; noReserve: boolean }
export type Pool = 'general' | 'reserve'
/**
 * Work that holds its amount. `beganSlow`: it was expected to be slow when it began. `waitedMs`: how long it waited meanwhile for what other
 * tenants hold; this does not make it slow.
 */
export type Held = Work & { pool: Pool; sinceMs: number; beganSlow: boolean; waitedMs: number }
/** The speed of the last work; `unknown`: there was none. */
export type WorkSpeed = 'quick' | 'unknown' | 'slow'

/** Half-life of recorded use. */
const halfLifeMs = 60_000
/** Maximum quick and maximum slow keys remembered per tenant. */
const maxKeys = 64

export class TenantAccount {
  readonly name: string
  readonly #slowAfterMs: number
  /** In order of start. */
  readonly #holds = new Set<Held>()
  readonly #keys = new Map<string, number>()
  /** By the speed of the key's last work. */
  readonly #last = { quick: new LRUCache<string, true>({ max: maxKeys }), slow: new LRUCache<string, true>({ max: maxKeys }) }
  #held = 0
  /** Sum of amount times start time of current holds. */
  #heldSince = 0
  /** Amount times milliseconds of ended work: decayed, and total. */
  #debt = 0
  #debtAtMs = 0
  #used = 0

  constructor(name: string, slowAfterMs: number) {
    this.name = name
    this.#slowAfterMs = slowAfterMs
  }

  get held(): number {
    return this.#held
  }

  heldBy(key: string): number {
    return this.#keys.get(key) ?? 0
  }

  /** What slow work holds, including work that was expected to be slow when it began. */
  heldSlow(nowMs: number): number {
    let amount = 0
    for (const held of this.#holds) if (held.beganSlow || this.#isSlow(held, nowMs)) amount += held.amount
    return amount
  }

  /** The longest running work. */
  get longest(): Held | undefined {
    const [oldest] = this.#holds
    return oldest
  }

  /** A new key has the standing of its tenant, because tenants choose their keys. */
  speedOf(key: string, nowMs: number): WorkSpeed {
    if (this.#last.slow.get(key) === true) return 'slow'
    const wasQuick = this.#last.quick.get(key) === true
    for (const held of this.#holds) {
      if (this.#isSlow(held, nowMs) && (!wasQuick || held.key === key)) return 'slow'
    }
    if (wasQuick) return 'quick'
    return this.#last.slow.size > 0 ? 'slow' : 'unknown'
  }

  add(held: Held): void {
    this.#holds.add(held)
    this.#change(held, held.amount)
  }

  /** Returns false if it was removed before. */
  remove(held: Held, nowMs: number): boolean {
    if (!this.#holds.delete(held)) return false
    this.#change(held, -held.amount)
    const used = held.amount * (nowMs - held.sinceMs)
    this.#debt = this.#aged(nowMs) + used
    this.#debtAtMs = nowMs
    this.#used += used
    const [now, before] = this.#isSlow(held, nowMs) ? (['slow', 'quick'] as const) : (['quick', 'slow'] as const)
    this.#last[before].delete(held.key)
    this.#last[now].set(held.key, true)
    return true
  }

  /** Recent use including current holds: amount times milliseconds. */
  debt(nowMs: number): number {
    return this.#aged(nowMs) + this.#running(nowMs)
  }

  /** Total use: amount times milliseconds. */
  used(nowMs: number): number {
    return this.#used + this.#running(nowMs)
  }

  #change({ key, sinceMs }: Held, amount: number): void {
    const ofKey = this.heldBy(key) + amount
    if (ofKey > 0) this.#keys.set(key, ofKey)
    else this.#keys.delete(key)
    this.#held += amount
    this.#heldSince += amount * sinceMs
  }

  #aged(nowMs: number): number {
    return this.#debt * 0.5 ** ((nowMs - this.#debtAtMs) / halfLifeMs)
  }

  #running(nowMs: number): number {
    return this.#held * nowMs - this.#heldSince
  }

  #isSlow({ sinceMs, waitedMs }: Held, nowMs: number): boolean {
    return nowMs - sinceMs - waitedMs >= this.#slowAfterMs
  }
}
