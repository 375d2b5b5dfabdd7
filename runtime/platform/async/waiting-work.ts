/**
 * Queues one tenant's waiting work. Work of the same key, amount and urgency starts in FIFO order, so that only the first of it has to be
 * considered.
 */
import type { Work } from './tenant-account.ts'

/** A held amount. Releasing it more than once counts once. */
export type Hold = { readonly isReserve: boolean; release(): void }

/** `owner`: whose work it is within the tenant. */
export type Waiter = Work & { owner: string | undefined; sinceMs: number; start(hold: Hold): void }

export class WaitingWork {
  readonly #queues = new Map<string, Set<Waiter>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(waiter: Waiter): void {
    const kind = kindOf(waiter)
    const queue = this.#queues.get(kind) ?? new Set()
    this.#queues.set(kind, queue.add(waiter))
    this.#size += 1
  }

  /** False: it is not waiting. */
  remove(waiter: Waiter): boolean {
    const kind = kindOf(waiter)
    const queue = this.#queues.get(kind)
    if (queue?.delete(waiter) !== true) return false
    if (queue.size === 0) this.#queues.delete(kind)
    this.#size -= 1
    return true
  }

  /** Of each key, amount and urgency, the longest waiting work. */
  first(): Waiter[] {
    return [...this.#queues.values()].flatMap(([first]) => first ?? [])
  }

  /** All waiting work. */
  *all(): Generator<Waiter> {
    for (const queue of this.#queues.values()) yield* queue
  }
}

function kindOf({ key, amount, urgent, noReserve }: Work): string {
  return `${amount} ${urgent} ${noReserve} ${key}`
}
