/**
 * Fetches the API key and the CA for calls to the gateway from the controller's content server. They are cached and fetched again when the
 * gateway rejects them, so that a rotation needs no restart and an idle gateway causes hardly any calls.
 */
import type { Clock } from '../platform/clock.ts'
import { deadline } from '../platform/clock.ts'
import type { GatewayAccess } from '../content/protocol/protocol.ts'

/** A cache of one `GatewayAccess`. */
export type AccessKeeper = {
  /** Returns the cached access, or fetches it. Throws the fault of the call if nothing is cached. */
  get(): Promise<GatewayAccess>
  /** Call this when the gateway rejected the access. Returns whether the controller now has another one. Never throws. */
  renew(): Promise<boolean>
}

const keptMs = 600_000
/** A key that stays wrong must not cause a stream of calls. */
const minBetweenMs = 10_000
const fetchTimeoutMs = 10_000

/** `fetchAccess` calls the content server. Answers are cached for ten minutes; after that the last one stays in use if a new fetch fails. */
export function createAccessKeeper({
  clock,
  fetchAccess,
}: {
  clock: Clock
  fetchAccess(signal: AbortSignal): Promise<GatewayAccess>
}): AccessKeeper {
  let known: { access: GatewayAccess; atMs: number } | undefined
  let running: Promise<GatewayAccess> | undefined
  let triedMs = Number.NEGATIVE_INFINITY

  const refresh = async (): Promise<GatewayAccess> => {
    running ??= fetchAccess(deadline(fetchTimeoutMs)).finally(() => (running = undefined))
    triedMs = clock.monotonicMs()
    const access = await running
    known = { access, atMs: clock.monotonicMs() }
    return access
  }

  return {
    async get() {
      if (known !== undefined && clock.monotonicMs() - known.atMs < keptMs) return known.access
      try {
        return await refresh()
      } catch (error) {
        // The old key may still be valid.
        if (known !== undefined) return known.access
        throw error
      }
    },
    async renew() {
      if (clock.monotonicMs() - triedMs < minBetweenMs) return false
      const before = JSON.stringify(known?.access)
      try {
        return JSON.stringify(await refresh()) !== before
      } catch {
        return false
      }
    },
  }
}
