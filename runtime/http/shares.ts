/**
 * Shares a limited amount among many takers, with a bound for each. A taker that finds none left waits in a queue for a while; others may
 * overtake one that already has its own share.
 */
import { deadline } from '../clock.ts'

/** A semaphore with amounts and takers. */
export type Shares = {
  /** Returns a function that gives the amount back; undefined: none came free in time, or too many wait. More than `total` takes all. */
  take(amount: number, taker: string): Promise<(() => void) | undefined>
}

/** `ofOne`: what one taker may have; a single piece may be larger. */
export type ShareSettings = { total: number; ofOne: number; waitMs: number; maxWaiting?: number }

type Waiting = { amount: number; taker: string; begin(): void }

/** Waits last at most `waitMs`; `maxWaiting` takers wait at once. */
export function createShares({ total, ofOne, waitMs, maxWaiting = Number.POSITIVE_INFINITY }: ShareSettings): Shares {
  const line: Waiting[] = []
  const held = new Map<string, number>()
  let free = total

  const change = (taker: string, amount: number): void => {
    free -= amount
    const now = (held.get(taker) ?? 0) + amount
    if (now > 0) held.set(taker, now)
    else held.delete(taker)
  }
  const isOverShare = ({ taker, amount }: Waiting): boolean => {
    const own = held.get(taker) ?? 0
    return own > 0 && own + amount > ofOne
  }
  const advance = (): void => {
    for (;;) {
      const at = line.findIndex((waiting) => !isOverShare(waiting))
      const next = line[at]
      if (next === undefined || next.amount > free) return
      line.splice(at, 1)
      change(next.taker, next.amount)
      next.begin()
    }
  }
  const wait = (amount: number, taker: string): Promise<boolean> =>
    new Promise((resolve) => {
      const patience = deadline(waitMs)
      const giveUp = (): void => {
        const at = line.indexOf(waiting)
        if (at >= 0) line.splice(at, 1)
        resolve(false)
        advance()
      }
      const waiting: Waiting = {
        amount,
        taker,
        begin() {
          patience.removeEventListener('abort', giveUp)
          resolve(true)
        },
      }
      patience.addEventListener('abort', giveUp, { once: true })
      line.push(waiting)
      advance()
    })

  return {
    async take(wanted, taker) {
      if (line.length >= maxWaiting) return undefined
      const amount = Math.min(wanted, total)
      if (!(await wait(amount, taker))) return undefined
      let returned = false
      return () => {
        if (returned) return
        returned = true
        change(taker, -amount)
        advance()
      }
    },
  }
}
