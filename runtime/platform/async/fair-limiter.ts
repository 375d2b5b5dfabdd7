/**
 * Shares a limited amount, such as memory or slots, fairly among tenants.
 *
 * - A tenant has a share, and a key of a tenant, such as a git host, has a share of that. Work of a key that was quick the last time may
 *   exceed the tenant's share, because it releases its amount soon.
 * - A reserve serves keys that were quick the last time, and tenants that hold nothing. Work in it that becomes slow is aborted as soon as
 *   other work needs the reserve, and starts again outside it.
 * - With a turn, slow work may use the reserve too, if its tenant holds nothing. Work outside
 *   of the reserve is aborted after its turn, for a tenant that has used less. It starts again with twice the turn.
 * - Waiting work: tenants that have used nothing go first, then quick keys, new ones, and slow ones last; then the tenant that has used the
 *   least goes first, and within a tenant urgent work.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { LRUCache } from 'lru-cache'
import { Shares } from './shares.ts'
import { type Held, type Pool, TenantAccount, type Work } from './tenant-account.ts'
import { type Hold, type Waiter, WaitingWork, compareRanks, type Rank, rankOfWork } from './waiting-work.ts'
import type { LimiterOptions, LimiterRequest, TenantUse, Wait } from './limiter-options.ts'

/** Work that may be aborted from `dueMs` on. */
type Run = { account: TenantAccount; isReserve: boolean; dueMs: number; end(): void }
type Tenant = { account: TenantAccount; waiting: WaitingWork }

/** The work of a limiter in which the current code runs. */
const current = new AsyncLocalStorage<Held>()
/** Work that has waited this long is not overtaken by work that would delay it further. */
const patienceMs = 10_000
/** How often to check whether waiting work may start although nothing was released. */
const retryMs = 5_000

export class FairLimiter {
  readonly #options: LimiterOptions
  readonly #slowAfterMs: number
  readonly #shares: Shares
  readonly #active = new Map<string, Tenant>()
  readonly #idle = new LRUCache<string, Tenant>({ max: 1_000 })
  readonly #runs = new Set<Run>()
  #waiting = 0
  /** Stops the repeated check whether waiting work may start; undefined: nothing waits. */
  #retrying: AbortController | undefined

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#slowAfterMs = options.slowAfterMs ?? 3_000
    this.#shares = new Shares(options, this.#slowAfterMs, () => this.#now())
  }

  /** What all tenants hold together. */
  get held(): number {
    return this.#shares.taken
  }

  /** Waits for the amount. Undefined: too many wait already, or none became free within `waitMs`. Throws the signal's reason. */
  async acquire(request: LimiterRequest, signal?: AbortSignal): Promise<Hold | undefined> {
    signal?.throwIfAborted()
    const { waiting, ...work } = this.#workOf(request)
    const { waitMs, maxWaiting = Infinity, maxWaitingInAll = Infinity } = this.#options
    this.#shares.measure()
    // Waiting work could not start at the last release, and cannot start now: only this piece of work may.
    const pool = this.#shares.poolFor(work, this.#late())
    if (pool !== undefined) return this.#hold(work, pool)
    if (waiting.size >= maxWaiting || this.#waiting >= maxWaitingInAll) {
      this.#settle(work.account.name)
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<Hold>()
    const waiter: Waiter = { ...work, owner: request.owner, sinceMs: this.#now(), start: resolve }
    // What a tenant waits for because of its own work makes the outer work slow.
    const outer = this.#shares.isLimited(waiter) ? undefined : current.getStore()
    waiting.add(waiter)
    this.#waiting += 1
    this.#retry().catch(() => undefined)
    this.#endRuns()
    return await this.#wait(waiter, promise, waitMs, signal).finally(() => {
      if (outer !== undefined) outer.waitedMs += this.#now() - waiter.sinceMs
    })
  }

  /** Takes the amount if it is free now. It may be held for any time, even in the reserve. */
  tryAcquire(request: LimiterRequest): Hold | undefined {
    const { work, pool } = this.#freeFor(request)
    if (pool !== undefined) return this.#hold(work, pool)
    this.#settle(work.account.name)
    return undefined
  }

  /** Whether `tryAcquire` would take the amount now. */
  isFree(request: LimiterRequest): boolean {
    const { work, pool } = this.#freeFor(request)
    this.#settle(work.account.name)
    return pool !== undefined
  }

  /**
   * Runs `work` while it holds the amount. The signal of `work` is aborted when it is slow in the reserve, or its turn is over, and other work
   * waits; it runs again when it holds the amount again. `leave` ends work in the reserve that needs more than the reserve. Returns undefined and throws as `acquire` does; throws what `work` throws.
   */
  async run<Result>(
    initial: LimiterRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal, isReserve: boolean, leave: () => void) => Promise<Result>,
  ): Promise<{ result: Result } | undefined> {
    let request = initial
    let { turnMs = Infinity } = this.#options
    for (;;) {
      const hold = await this.acquire(request, signal)
      if (hold === undefined) return undefined
      const leave = (): void => {
        request = { ...request, noReserve: true }
        end()
      }
      const [tooSlow, over] = [new AbortController(), new AbortController()]
      const end = (): void => tooSlow.abort(new Error('other work waits'))
      const { isReserve, held } = hold
      const run: Run = { account: held.account, isReserve, dueMs: this.#now() + (isReserve ? this.#slowAfterMs : turnMs), end }
      if (run.dueMs < Infinity) this.#endWhenDue(run, over.signal)
      try {
        const own = AbortSignal.any([signal, tooSlow.signal])
        return { result: await current.run(held, () => work(own, isReserve, leave)) }
      } catch (error) {
        if (signal.aborted || !tooSlow.signal.aborted) throw error
      } finally {
        if (!isReserve) turnMs *= 2
        this.#runs.delete(run)
        over.abort()
        hold.release()
      }
    }
  }

  /** Returns the tenants that hold something, wait, or did recently. */
  uses(): TenantUse[] {
    this.#shares.measure()
    return [...this.#active.values(), ...this.#idle.values()].map(({ account, waiting }) => ({
      tenant: account.name,
      held: account.held,
      waiting: waiting.size,
      usedSeconds: account.used(this.#now()) / Math.max(1, this.#shares.total) / 1000,
    }))
  }

  /** Returns the work that waits, of one tenant or of all. */
  waits(tenant?: string): Wait[] {
    if (this.#waiting === 0) return []
    this.#shares.measure()
    const tenants = tenant === undefined ? [...this.#active.values()] : [this.#active.get(tenant) ?? []].flat()
    return tenants.flatMap(({ account, waiting }) =>
      [...waiting.all()].map((waiter) => ({
        tenant: account.name,
        key: waiter.key,
        owner: waiter.owner,
        waitedMs: this.#now() - waiter.sinceMs,
        exceedsShare: this.#shares.exceedsShare(waiter),
        longestKey: account.longest?.key,
      })),
    )
  }

  #now(): number {
    return this.#options.clock.monotonicMs()
  }

  #workOf({ tenant: name, key = '', amount = 1, urgent = false, noReserve = false }: LimiterRequest): Work & Pick<Tenant, 'waiting'> {
    const fresh = (): Tenant => ({ account: new TenantAccount(name, this.#slowAfterMs), waiting: new WaitingWork() })
    const tenant = this.#active.get(name) ?? this.#idle.get(name) ?? fresh()
    this.#idle.delete(name)
    this.#active.set(name, tenant)
    return { ...tenant, key, amount, urgent, noReserve }
  }

  #freeFor(request: LimiterRequest): { work: Work; pool: Pool | undefined } {
    this.#shares.measure()
    const { waiting, ...work } = this.#workOf(request)
    return { work, pool: waiting.size > 0 ? undefined : this.#shares.poolFor(work) }
  }

  async #wait(waiter: Waiter, promise: Promise<Hold>, waitMs: number | undefined, signal?: AbortSignal): Promise<Hold | undefined> {
    const over = new AbortController()
    const left = Promise.withResolvers<undefined>()
    const leave = (): void => {
      this.#leave(waiter)
      if (signal?.aborted === true) left.reject(signal.reason as Error)
      else left.resolve(undefined)
    }
    signal?.addEventListener('abort', leave, { once: true })
    if (waitMs !== undefined) this.#options.clock.wait(waitMs, over.signal).then(leave, () => undefined)
    try {
      return await Promise.race([promise, left.promise])
    } finally {
      signal?.removeEventListener('abort', leave)
      over.abort()
    }
  }

  /** While work waits: the total may have grown, or a piece of work with priority may have become slow. */
  async #retry(): Promise<void> {
    if (this.#retrying !== undefined) return
    const { signal } = (this.#retrying = new AbortController())
    const { reserveAfterMs = 0, clock } = this.#options
    for (;;) {
      await clock.wait(Math.min(retryMs, reserveAfterMs / 4 || retryMs), signal)
      this.#startNext()
      this.#endRuns()
    }
  }

  #endWhenDue(run: Run, over: AbortSignal): void {
    this.#runs.add(run)
    const due = this.#options.clock.wait(run.dueMs - this.#now(), over)
    due.then(() => this.#endRuns()).catch(() => undefined)
  }

  /** Aborts work that is due, if other work needs its place. */
  #endRuns(): void {
    if (this.#waiting === 0) return
    const nowMs = this.#now()
    const waiters = this.#first().flat()
    for (const { account, isReserve, dueMs, end } of this.#runs) {
      if (dueMs > nowMs) continue
      const hasUsedLess = (waiter: Waiter): boolean => waiter.account !== account && waiter.account.debt(nowMs) < account.debt(nowMs)
      const needsPlace = (waiter: Waiter): boolean =>
        isReserve
          ? this.#shares.mayUseReserve(waiter) && (waiter.account.speedOf(waiter.key, nowMs) !== 'slow' || hasUsedLess(waiter))
          : hasUsedLess(waiter) && !this.#shares.exceedsShare(waiter)
      if (waiters.some(needsPlace)) end()
    }
  }

  #leave(waiter: Waiter): void {
    if (!this.#remove(waiter)) return
    this.#settle(waiter.account.name)
    this.#startNext()
  }

  #remove(waiter: Waiter): boolean {
    const isRemoved = this.#active.get(waiter.account.name)?.waiting.remove(waiter) ?? false
    if (isRemoved) this.#waiting -= 1
    if (this.#waiting === 0) {
      this.#retrying?.abort()
      this.#retrying = undefined
    }
    return isRemoved
  }

  #hold(work: Work, pool: Pool): Hold {
    const held = this.#shares.hold(work, pool)
    const release = (): void => {
      if (!this.#shares.release(held)) return
      this.#settle(work.account.name)
      this.#startNext()
    }
    return { isReserve: pool === 'reserve', held, release }
  }

  #settle(name: string): void {
    const tenant = this.#active.get(name)
    if (tenant === undefined || tenant.account.held > 0 || tenant.waiting.size > 0) return
    this.#active.delete(name)
    this.#idle.set(name, tenant)
  }

  #startNext(): void {
    this.#shares.measure()
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { waiter, pool } = next
      this.#remove(waiter)
      waiter.start(this.#hold(waiter, pool))
    }
  }

  /** What may start next, tenant by tenant. */
  #first(): Waiter[][] {
    return [...this.#active.values()].flatMap(({ waiting }) => (waiting.size > 0 ? [waiting.first(this.#now())] : []))
  }

  /** The longest waiting work that has waited too long because of others. */
  #late(first = this.#first()): Waiter | undefined {
    if (this.#waiting === 0) return undefined
    const before = this.#now() - patienceMs
    const late = first.flatMap((waiters) => waiters.filter((waiter) => waiter.sinceMs < before))
    return late.toSorted((a, b) => a.sinceMs - b.sinceMs).find((waiter) => !this.#shares.isLimited(waiter))
  }

  #next(): { waiter: Waiter; pool: Pool } | undefined {
    if (this.#waiting === 0 || this.#shares.isFull) return undefined
    const first = this.#first()
    const late = this.#late(first)
    let next: { waiter: Waiter; pool: Pool; rank: Rank } | undefined
    for (const waiters of first) {
      const sinceMs = Math.min(...waiters.map((waiter) => waiter.sinceMs))
      for (const waiter of waiters) {
        const rank = rankOfWork(waiter, late, sinceMs, this.#now())
        if (next !== undefined && compareRanks(rank, next.rank) >= 0) continue
        const pool = this.#shares.poolFor(waiter, late)
        if (pool !== undefined) next = { waiter, pool, rank }
      }
    }
    return next
  }
}
