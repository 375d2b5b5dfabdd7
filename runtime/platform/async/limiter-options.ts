/**
 * The options, requests and reports of the fair limiter.
 */
import { type ShareLimits } from './shares.ts'

/** Monotonic time; `wait` rejects when the signal is aborted. */
export type LimiterClock = { monotonicMs(): number; wait(ms: number, signal: AbortSignal): Promise<void> }

export type LimiterOptions = ShareLimits & {
  /** Maximum number of waiting pieces of work, per tenant and in total. Default: unlimited. */
  maxWaiting?: number
  maxWaitingInAll?: number
  /** How long a piece of work waits before it fails. Default: until its signal aborts. */
  waitMs?: number
  /** Work that takes this long is slow, apart from waits in other limiters for what other tenants hold. Default: 3,000. */
  slowAfterMs?: number
  clock: LimiterClock
}

/**
 * `tenant`: the namespace, or the client address if no namespace is known; never a name that a tenant chooses. `key`: the subject of the
 * work, such as a git host. `owner`: whose work it is within the tenant; only `waits` returns it. `noReserve`: it needs more than
 * the reserve has.
 */
export type LimiterRequest = {
  tenant: string
  key?: string
  owner?: string | undefined
  amount?: number
  urgent?: boolean
  noReserve?: boolean
}

/** What a tenant holds, and how many of its pieces of work wait. `usedSeconds`: amount times seconds since the start, over `total`. */
export type TenantUse = { tenant: string; held: number; waiting: number; usedSeconds: number }

/** Waiting work. `exceedsShare`: the tenant holds its share. `longestKey`: the key of the tenant's longest running work. */
export type Wait = {
  tenant: string
  key: string
  owner: string | undefined
  waitedMs: number
  exceedsShare: boolean
  longestKey: string | undefined
}
