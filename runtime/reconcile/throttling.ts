/**
 * Detects which GatewaySyncs wait because their own namespace uses its share of a resource, for their condition `Throttled`.
 */
import type { FairLimiter } from '../platform/async/fair-limiter.ts'
import type { Wait } from '../platform/async/limiter-options.ts'
import { type Clock, pause } from '../platform/clock.ts'
import type { SharedResource } from '../telemetry/metrics/metrics.ts'
import { type SyncKey, syncKey } from './store/records.ts'

/** The limiters of the resources that namespaces share. */
export type SharedLimiters = ReadonlyMap<SharedResource, Pick<FairLimiter, 'uses' | 'waits'>>

type Deps = {
  clock: Pick<Clock, 'monotonicMs' | 'wait'>
  limiters: SharedLimiters
  /** The GatewaySyncs of a namespace with a running resolution of a repository: they share its mirror, and so the calls of git. */
  resolving(namespace: string, repository: string): readonly SyncKey[]
  /** The longest time between two polls of a GatewaySync. */
  pollMs(key: SyncKey): number
  /** Called outside any reconcile when a GatewaySync begins or ceases to be throttled, or the cause changes. */
  changed(key: SyncKey): void
}

/** Shorter waits are normal. */
const reportedAfterMs = 5_000
const checkEveryMs = 1_000

/** What waits, and what the longest running work of the namespace is. */
const texts: Record<SharedResource, { what: string; longest(key: string): string }> = {
  'source-resolution': { what: 'a source resolution waits', longest: (host) => `the longest one queries git host ${host}` },
  'git-memory': { what: 'git waits for memory', longest: (host) => `the longest git process talks to git host ${host}` },
  'signature-verification': { what: 'a signature waits to be verified', longest: (name) => `the longest verification is for ${name}` },
  validation: { what: 'a commit waits for validation', longest: (line) => `the longest validation is of ${line}` },
}

type Report = { message: string; seenMs: number }

/**
 * A report ends once its cause was absent for a whole polling interval, and only then another cause replaces it. Otherwise a namespace that
 * waits at each poll would change its conditions twice a poll.
 */
export class Throttling {
  readonly #deps: Deps
  readonly #reports = new Map<SyncKey, Report>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns why a GatewaySync waits, or waited at its last poll; undefined: it does not wait for its own namespace. */
  messageOf(key: SyncKey): string | undefined {
    return this.#reports.get(key)?.message
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#check()
      await pause(this.#deps.clock, checkEveryMs, signal)
    }
  }

  #check(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const messages = this.#messages()
    for (const key of new Set([...this.#reports.keys(), ...messages.keys()])) {
      const report = this.#reports.get(key)
      const current = messages.get(key) ?? []
      if (report !== undefined && current.includes(report.message)) report.seenMs = nowMs
      else if (report === undefined || nowMs - report.seenMs > this.#deps.pollMs(key) + reportedAfterMs + checkEveryMs) {
        const [message] = current
        if (message === undefined) this.#reports.delete(key)
        else this.#reports.set(key, { message, seenMs: nowMs })
        this.#deps.changed(key)
      }
    }
  }

  /** Returns a message for each long wait within the namespace's own share. */
  #messages(): Map<SyncKey, string[]> {
    const found = new Map<SyncKey, string[]>()
    for (const [resource, limiter] of this.#deps.limiters) {
      const waits = limiter.waits().filter(({ waitedMs, exceedsShare }) => waitedMs >= reportedAfterMs && exceedsShare)
      for (const wait of waits)
        for (const key of this.#keysOf(resource, wait)) found.set(key, [...(found.get(key) ?? []), messageOf(resource, wait)])
    }
    return found
  }

  #keysOf(resource: SharedResource, { tenant, owner }: Wait): readonly SyncKey[] {
    if (owner === undefined) return []
    return resource === 'git-memory' ? this.#deps.resolving(tenant, owner) : [syncKey(tenant, owner)]
  }
}

function messageOf(resource: SharedResource, { tenant, longestKey }: Wait): string {
  const { what, longest } = texts[resource]
  const why = `${what}, because namespace "${tenant}" uses its share of ${resource}`
  // A cleanup of a mirror has no host.
  return longestKey === undefined || longestKey === '' ? why : `${why}; ${longest(longestKey)}`
}
