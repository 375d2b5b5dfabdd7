/**
 * How the agent is let in by its gateway: the API key and the authority that the controller hands out over delivery. Kept for a while, asked
 * for anew as soon as the gateway refuses what is known, so that a rotation needs no restart and an idle gateway hardly any request.
 */
import type { Clock } from '../clock.ts'
import { deadline } from '../clock.ts'
import type { GatewayAccess } from '../delivery/protocol.ts'

export type AccessKeeper = {
  /** What is known, or what the controller says now. Throws what kept it from saying anything, while nothing is known. */
  get(): Promise<GatewayAccess>
  /** The gateway refused what is known: whether the controller says something else now. Never throws. */
  renew(): Promise<boolean>
}

const keptMs = 600_000
/** A key that is wrong for good must not become a stream of requests. */
const leastBetweenMs = 10_000
const askTimeoutMs = 10_000

/** `ask` asks delivery, and throws what that throws; the last answer stays in use where asking anew fails. */
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
        // What let us in before may do so again.
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
