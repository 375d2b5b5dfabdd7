/**
 * Finds the deployment mode of one gateway: from what is known of its start, from ignition.conf, and from the gateway itself once it
 * runs.
 */
import { type Clock, deadline } from '../clock.ts'
import { findMode, type Mode } from '../collections/model/mode.ts'
import { asFault, type Reason } from '../fault.ts'
import type { Gateway } from './gateway.ts'

/** The gateway reads its mode only at its start, so its answer holds for a while; so does its refusal to tell. */
const askAgainMs = 60_000
/** One that is not there yet may be there in a moment. */
const askAbsentAgainMs = 1_000
const askTimeoutMs = 2_000
/** A gateway that does not run, starts or is commissioned. */
const absent: ReadonlySet<Reason> = new Set<Reason>(['GatewayUnreachable', 'GatewayNotReady', 'Timeout'])
/** The key to ask with could not be had; who hands it out has others to serve. */
const keyless: ReadonlySet<Reason> = new Set<Reason>(['DeliveryUnreachable', 'DeliveryFailed', 'DeliveryUnauthorised', 'TooManyRequests'])
const askKeylessAgainMs = 10_000

type Deps = {
  clock: Clock
  /** The text of the gateway's ignition.conf, if it has one. */
  ignitionConf(): string | undefined
}

/** What is known of how the gateway is started. */
type Known = { target?: string | undefined; argument?: string | undefined; environment?: string | undefined }

/**
 * A gateway that does not answer leaves its last answer in force; a missing API key is no failure of the sync. Whoever calls often learns
 * the mode of a gateway that starts as soon as it runs: it is asked no more often than makes sense.
 */
export function createModeFinder(deps: Deps, known: Known): (gateway: Gateway | undefined, signal: AbortSignal) => Promise<Mode> {
  const { clock } = deps
  let answer: string | undefined
  let askAgainAtMs = Number.NEGATIVE_INFINITY

  const ask = async (gateway: Gateway, signal: AbortSignal): Promise<void> => {
    if (clock.monotonicMs() < askAgainAtMs) return
    let waitMs = askAgainMs
    try {
      const info = await gateway.info(deadline(askTimeoutMs, signal))
      answer = info.deploymentMode ?? answer
    } catch (error) {
      signal.throwIfAborted()
      const { reason } = asFault(error)
      if (absent.has(reason)) waitMs = askAbsentAgainMs
      else if (keyless.has(reason)) waitMs = askKeylessAgainMs
    }
    askAgainAtMs = clock.monotonicMs() + waitMs
  }

  return async (gateway, signal) => {
    const { target, argument, environment } = known
    if (target !== undefined) return findMode({ target })
    if (gateway !== undefined) await ask(gateway, signal)
    return findMode({ argument, environment, ignitionConf: deps.ignitionConf(), gateway: answer })
  }
}
