/**
 * Orders waiting work: quick keys go before new ones, and slow keys last; then the tenant that has used the least goes first. Pure.
 */
import type { WorkSpeed } from './tenant-account.ts'
import type { Waiter } from './waiting-work.ts'

/** Lower ranks go first; the first member that differs decides. */
export type Rank = readonly number[]

const ranks: Record<WorkSpeed, number> = { quick: 0, unknown: 1, slow: 2 }

/** `late`: the work that has waited too long. `tenantSinceMs`: since when the tenant has waited. */
export function rankOfWork(waiter: Waiter, late: Waiter | undefined, tenantSinceMs: number, nowMs: number): Rank {
  const { account, key, urgent, sinceMs } = waiter
  // Of tenants that have used nothing, the longest waiting one goes first; within a tenant, urgent work does.
  return [Number(waiter !== late), ranks[account.speedOf(key, nowMs)], account.debt(nowMs), tenantSinceMs, Number(!urgent), sinceMs]
}

export function compareRanks(a: Rank, b: Rank): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}
