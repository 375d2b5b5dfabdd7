/**
 * Queues one tenant's waiting work. Work of the same key, amount and urgency starts in FIFO order, so that only the first of it has to be
 * considered.
 */
import type { Held, Work, WorkSpeed } from './tenant-account.ts'

/** A held amount. Releasing it more than once counts once. */
export type Hold = { readonly isReserve: boolean; readonly held: Held; release(): void }

/** `owner`: whose work it is within the tenant. */
export type Waiter = Work & { owner: string | undefined; sinceMs: number; start(hold: Hold): void }

export class WaitingWork {
  /** By amount and urgency, and in it by key. */
  readonly #groups = new Map<string, Map<string, Set<Waiter>>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(waiter: Waiter): void {
    const group = groupOf(waiter)
    const queues = this.#groups.get(group) ?? new Map<string, Set<Waiter>>()
    this.#groups.set(group, queues)
    const queue = queues.get(waiter.key) ?? new Set()
    queues.set(waiter.key, queue.add(waiter))
    this.#size += 1
  }

  /** Returns false if it is not waiting. */
  remove(waiter: Waiter): boolean {
    const group = groupOf(waiter)
    const queues = this.#groups.get(group)
    const queue = queues?.get(waiter.key)
    if (queue?.delete(waiter) !== true) return false
    if (queue.size === 0) queues?.delete(waiter.key)
    if (queues?.size === 0) this.#groups.delete(group)
    this.#size -= 1
    return true
  }

  /**
   * Of each key, amount and urgency, the longest waiting work. Of keys that hold nothing and are equally quick only one: the others cannot
   * start before it, and a tenant may have thousands of keys.
   */
  first(nowMs: number): Waiter[] {
    const first: Waiter[] = []
    for (const queues of this.#groups.values()) {
      const longest: Partial<Record<WorkSpeed, Waiter>> = {}
      for (const [key, queue] of queues) {
        const waiter = queue.values().next().value
        if (waiter === undefined) continue
        const { account, sinceMs } = waiter
        if (account.heldBy(key) > 0) first.push(waiter)
        else {
          const speed = account.speedOf(key, nowMs)
          if (sinceMs < (longest[speed]?.sinceMs ?? Infinity)) longest[speed] = waiter
        }
      }
      first.push(...Object.values(longest))
    }
    return first
  }

  /** All waiting work. */
  *all(): Generator<Waiter> {
    for (const queues of this.#groups.values()) for (const queue of queues.values()) yield* queue
  }
}

function groupOf({ amount, urgent, noReserve }: Work): string {
  return `${amount} ${urgent} ${noReserve}`
}

/** Lower ranks go first; the first member that differs decides. */
export type Rank = readonly number[]

const ranks: Record<WorkSpeed, number> = { quick: 0, unknown: 1, slow: 2 }

/**
 * Tenants that have used nothing go first, then quick keys, new ones, and slow ones last; then the tenant that has used the least goes
 * first. `late`: the work that has waited too long. `tenantSinceMs`: since when the tenant has waited.
 */
export function rankOfWork(waiter: Waiter, late: Waiter | undefined, tenantSinceMs: number, nowMs: number): Rank {
  const { account, key, urgent, sinceMs } = waiter
  const debt = account.debt(nowMs)
  // Quick work of others may never end, so a tenant that has used nothing does not wait for it.
  const rank = debt === 0 ? 0 : ranks[account.speedOf(key, nowMs)]
  // Of tenants that have used nothing, the longest waiting one goes first; within a tenant, urgent work does.
  return [Number(waiter !== late), rank, debt, tenantSinceMs, Number(!urgent), sinceMs]
}

export function compareRanks(a: Rank, b: Rank): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}
