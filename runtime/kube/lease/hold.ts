/**
 * Holds the Lease: renews it, answers replicas that ask whether the holder is alive, and finally releases it. A paused process (full node,
 * debugger) may have lost the Lease meanwhile: it writes nothing until it has renewed.
 */
import { deadline, pause, unlessAborted } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { leaseAnnotations } from '../../api/names.ts'
import { type KubeObject, leaseType } from '../types.ts'
import { callMs, type LeaseDeps, type LeaseOptions, timesOf } from './options.ts'
import { holderOf, isAsked } from './record.ts'
import type { LeaseObserver } from './observer.ts'

/** Called before each write. Settles at once; after a pause of the process it waits for a renewal. Throws when the Lease is lost. */
export type Confirm = (signal: AbortSignal) => Promise<void>
/** The work of a leader. It must settle soon after its signal, because only then is the Lease released. */
export type Lead = (signal: AbortSignal, confirm: Confirm) => Promise<void>

/** The version of the Lease that was taken, and when the request began: other replicas cannot have counted from an earlier moment. */
export type Taken = { version: string; atMs: number }

const beatMs = 200
/** Share of `answerWithinMs` after which a pause counts: a process that slept this long may have missed a query. */
const pausedAfter = 0.5

/** Settles when `lead` has settled and the Lease is released; the signal of `lead` aborts when the Lease is lost. */
export async function leadWhileHeld(
  deps: LeaseDeps,
  options: LeaseOptions,
  { taken, sight }: { taken: Taken; sight: LeaseObserver },
  lead: Lead,
  signal: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const own = AbortSignal.any([signal, lost.signal])
  const holding = createHolding(deps, options, sight)
  const running = holding.run(taken, (reason) => lost.abort(new Error(reason)), own)
  try {
    await lead(own, holding.confirm)
  } finally {
    lost.abort(new Error('no longer leading'))
    await running
    await release(deps, options)
  }
}

function createHolding(deps: LeaseDeps, options: LeaseOptions, sight: LeaseObserver) {
  const { clock, log } = deps
  const { renewWithinMs, renewEveryMs, answerWithinMs } = timesOf(options)
  const pausedMs = answerWithinMs * pausedAfter
  let turnedMs = clock.monotonicMs()
  let failingSinceMs: number | undefined
  let now = new AbortController()
  let proof = Promise.withResolvers<void>()
  const turn = (): void => {
    const atMs = clock.monotonicMs()
    if (atMs - turnedMs > pausedMs) {
      failingSinceMs = atMs
      now.abort()
    }
    turnedMs = atMs
  }
  const isToAnswer = (lease: KubeObject | undefined): boolean => isAsked(lease) || holderOf(lease)?.identity !== options.identity

  const beat = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await pause(clock, beatMs, signal)
      turn()
    }
  }
  const listen = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await sight.next(renewEveryMs, signal)
      if (isToAnswer(sight.lease())) now.abort()
    }
  }
  const renew = async ({ version: takenVersion, atMs }: Taken, lose: (reason: string) => void, signal: AbortSignal): Promise<void> => {
    let [version, renewedMs]: [string, number] = [takenVersion, atMs]
    while (!signal.aborted) {
      await pause(clock, renewEveryMs, AbortSignal.any([signal, now.signal]))
      if (signal.aborted) return
      now = new AbortController()
      const startedMs = clock.monotonicMs()
      const leftMs = renewedMs + renewWithinMs - startedMs
      if (leftMs <= 0) return lose('the Lease could not be renewed in time')
      try {
        const next = await renewOnce(deps, options, version, deadline(Math.min(leftMs, callMs), signal))
        if (next === undefined) return lose('the Lease has another holder')
        ;[version, renewedMs] = [next, startedMs]
        if (failingSinceMs !== undefined && failingSinceMs <= startedMs) failingSinceMs = undefined
        proof.resolve()
        proof = Promise.withResolvers()
      } catch (error) {
        if (signal.aborted) return
        log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'the Lease was not renewed')
      }
    }
  }
  return {
    async run(taken: Taken, lose: (reason: string) => void, signal: AbortSignal): Promise<void> {
      await Promise.all([beat(signal), listen(signal), renew(taken, lose, signal)])
    },
    async confirm(signal: AbortSignal): Promise<void> {
      turn()
      while (failingSinceMs !== undefined) await unlessAborted(proof.promise, signal)
      signal.throwIfAborted()
    },
  }
}

/**
 * Returns the Lease's new version; undefined when another replica holds it. `known` is the version written last: the Lease is read only if
 * that is outdated.
 */
async function renewOnce(deps: LeaseDeps, options: LeaseOptions, known: string, signal: AbortSignal): Promise<string | undefined> {
  const { kube, clock } = deps
  const write = async (resourceVersion: string): Promise<string> => {
    const spec = { renewTime: clock.now().toString({ fractionalSecondDigits: 6 }) }
    const metadata = { resourceVersion, annotations: { [leaseAnnotations.askedBy]: null } }
    return (await kube.mergePatch(leaseType, options, { metadata, spec }, {}, signal)).metadata.resourceVersion
  }
  try {
    return await write(known)
  } catch (error) {
    if (!(error instanceof Fault) || (error.reason !== 'Conflict' && error.reason !== 'NotFound')) throw error
  }
  const lease = await kube.get(leaseType, options, signal)
  if (lease === undefined || holderOf(lease)?.identity !== options.identity) return undefined
  return await write(lease.metadata.resourceVersion)
}

/** Writes an empty holder, so that others need not wait until the Lease expires. */
async function release({ kube, log }: LeaseDeps, options: LeaseOptions): Promise<void> {
  try {
    const signal = AbortSignal.timeout(2_000)
    const lease = await kube.get(leaseType, options, signal)
    if (lease === undefined || holderOf(lease)?.identity !== options.identity) return
    const patch = { metadata: { resourceVersion: lease.metadata.resourceVersion }, spec: { holderIdentity: '', leaseDurationSeconds: 1 } }
    await kube.mergePatch(leaseType, options, patch, {}, signal)
  } catch (error) {
    log.warn({ reason: asFault(error).reason }, 'the Lease was not released; it expires')
  }
}
