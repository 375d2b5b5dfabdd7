/**
 * Finds the deployment mode of one gateway: from its start arguments and environment, from ignition.conf, and from the running gateway.
 */
import { type Clock, deadline } from '../platform/clock.ts'
import { findMode, type Mode } from '../api/mode.ts'
import { asFault, type Reason } from '../platform/fault.ts'
import type { Gateway } from './gateway.ts'

/** How long a response, or a refusal, is cached: a gateway reads its mode only at its start. */
const answerCacheMs = 60_000
/** How long the absence of a gateway is cached: it may start soon. */
const absenceCacheMs = 1_000
const infoTimeoutMs = 2_000
/** Faults of a gateway that is down. */
const absent: ReadonlySet<Reason> = new Set<Reason>(['GatewayUnreachable', 'Timeout'])
/**
 * Faults of fetching the API key from the content server, which may be busy with other agents; its Secret may be created after the gateway.
 */
const keyless: ReadonlySet<Reason> = new Set<Reason>([
  'SecretNotFound',
  'DeliveryUnreachable',
  'DeliveryFailed',
  'DeliveryUnauthorized',
  'TooManyRequests',
])
const missingKeyCacheMs = 10_000

type Deps = {
  clock: Clock
  /** The text of the gateway's ignition.conf, if it has one. */
  ignitionConf(): string | undefined
}

/** What is known about the gateway's start. */
type Known = { target?: string | undefined; argument?: string | undefined; environment?: string | undefined }

/**
 * If a gateway does not respond, its last mode stays in force; a missing API key does not fail the sync. The returned function may be
 * called often: results are cached, but only briefly, so that a caller gets the mode soon after the gateway has started.
 */
export function createModeFinder(deps: Deps, known: Known): (gateway: Gateway | undefined, signal: AbortSignal) => Promise<Mode> {
  const { clock } = deps
  let answer: string | undefined
  let cachedUntilMs = Number.NEGATIVE_INFINITY

  const queryMode = async (gateway: Gateway, signal: AbortSignal): Promise<void> => {
    if (clock.monotonicMs() < cachedUntilMs) return
    let cacheMs = answerCacheMs
    try {
      const info = await gateway.info(deadline(infoTimeoutMs, signal))
      answer = info.deploymentMode ?? answer
    } catch (error) {
      signal.throwIfAborted()
      const { reason } = asFault(error)
      // A running gateway that does not answer this request will not do so soon.
      const isAbsent = absent.has(reason) || (reason === 'GatewayNotReady' && (await gateway.status(signal)) !== 'running')
      if (isAbsent) cacheMs = absenceCacheMs
      else if (keyless.has(reason)) cacheMs = missingKeyCacheMs
    }
    cachedUntilMs = clock.monotonicMs() + cacheMs
  }

  return async (gateway, signal) => {
    const { target, argument, environment } = known
    if (target !== undefined) return findMode({ target })
    if (gateway !== undefined) await queryMode(gateway, signal)
    return findMode({ argument, environment, ignitionConf: deps.ignitionConf(), gateway: answer })
  }
}
