/**
 * Finds the deployment mode of one gateway: from what is known of its start, from ignition.conf, and from the gateway itself once it
 * runs.
 */
import { type Clock, deadline } from '../clock.ts'
import { findMode, type Mode } from '../collections/mode.ts'
import type { Gateway } from './gateway.ts'

/** The gateway reads its mode only at its start, so its answer holds for a while. */
const askAgainMs = 60_000
const askTimeoutMs = 2_000

type Deps = {
  clock: Clock
  /** The text of the gateway's ignition.conf, if it has one. */
  ignitionConf(): string | undefined
}

/** What is known of how the gateway is started. */
type Known = { target?: string | undefined; argument?: string | undefined; environment?: string | undefined }

/** A gateway that does not answer leaves its last answer in force; a missing API key is no failure of the sync. */
export function createModeFinder(deps: Deps, known: Known): (gateway: Gateway | undefined, signal: AbortSignal) => Promise<Mode> {
  const { clock } = deps
  let answer: string | undefined
  let askedMs = Number.NEGATIVE_INFINITY

  const ask = async (gateway: Gateway, signal: AbortSignal): Promise<void> => {
    if (clock.monotonicMs() - askedMs < askAgainMs) return
    askedMs = clock.monotonicMs()
    try {
      const info = await gateway.info(deadline(askTimeoutMs, signal))
      answer = info.deploymentMode
    } catch {
      signal.throwIfAborted()
    }
  }

  return async (gateway, signal) => {
    const { target, argument, environment } = known
    if (target !== undefined) return findMode({ target })
    if (gateway !== undefined) await ask(gateway, signal)
    return findMode({ argument, environment, ignitionConf: deps.ignitionConf(), gateway: answer })
  }
}
