/**
 * The API key and the authority with which the agent calls its gateway, fetched from the controller over delivery. They are cached, and fetched
 * again as soon as the gateway refuses them, so that a rotation needs no restart and an idle gateway hardly any call.
 */
import type { Clock } from '../clock.ts'
import { deadline } from '../clock.ts'
import type { GatewayAccess } from '../delivery/protocol.ts'

/** A cache of one `GatewayAccess`. */
export type AccessKeeper = {
  /** The cached access, or the controller's answer. Throws the fault of the call when nothing is cached. */
  get(): Promise<GatewayAccess>
  /** To be called when the gateway refused the access. Returns whether the controller now has another one. Never throws. */
  renew(): Promise<boolean>
}

const keptMs = 600_000
/** A key that stays wrong must not cause a stream of calls. */
const leastBetweenMs = 10_000
const askTimeoutMs = 10_000

/** `ask` calls delivery. Answers are cached for ten minutes; after that the last one stays in use when asking again fails. */
export function createAccessKeeper({ clock, ask }: { clock: Clock; ask(signal: AbortSignal): Promise<GatewayAccess> }): AccessKeeper {
  let known: { access: GatewayAccess; atMs: number } | undefined
  let asking: Promise<GatewayAccess> | undefined
  let triedMs = Number.NEGATIVE_INFINITY

  const refresh = async (): Promise<GatewayAccess> => {
    asking ??= ask(deadline(askTimeoutMs)).finally(() => (asking = undefined))
    triedMs = clock.monotonicMs()
    const access = await asking
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
      if (clock.monotonicMs() - triedMs < leastBetweenMs) return false
      const before = JSON.stringify(known?.access)
      try {
        return JSON.stringify(await refresh()) !== before
      } catch {
        return false
      }
    },
  }
}
