/**
 * Holds the Lease: renews it, answers replicas that ask whether the holder is alive, and finally releases it. A paused process (full node,
 * debugger) may have lost the Lease meanwhile: it writes nothing until it has renewed.
 */
import { deadline, pause, unlessAborted } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { leaseAnnotations } from '../../api/names.ts'
import { leaseType } from '../types.ts'
import { callMs, type LeaseDeps, type LeaseOptions, timesOf, holderOf, isLivenessRequested } from './lease.ts'
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
  { taken, observer }: { taken: Taken; observer: LeaseObserver },
  lead: Lead,
  signal: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const own = AbortSignal.any([signal, lost.signal])
  const holding = new Holding(deps, options, observer)
  const running = holding.run(taken, (reason) => lost.abort(new Error(reason)), own)
  try {
    await lead(own, (calling) => holding.confirm(calling))
  } finally {
    lost.abort(new Error('no longer leading'))
    await running
    await release(deps, options)
  }
}

/** The Lease of a leader while it is held. */
class Holding {
  readonly #deps: LeaseDeps
  readonly #options: LeaseOptions
  readonly #observer: LeaseObserver
  readonly #times: ReturnType<typeof timesOf>
  #lastTickMs: number
  #failingSinceMs: number | undefined
  #renewNow = new AbortController()
  #renewed = Promise.withResolvers<void>()

  constructor(deps: LeaseDeps, options: LeaseOptions, observer: LeaseObserver) {
    this.#deps = deps
    this.#options = options
    this.#observer = observer
    this.#times = timesOf(options)
    this.#lastTickMs = deps.clock.monotonicMs()
  }

  async run(taken: Taken, lose: (reason: string) => void, signal: AbortSignal): Promise<void> {
    await Promise.all([this.#beat(signal), this.#listen(signal), this.#renew(taken, lose, signal)])
  }

  async confirm(signal: AbortSignal): Promise<void> {
    this.#detectPause()
    while (this.#failingSinceMs !== undefined) await unlessAborted(this.#renewed.promise, signal)
    signal.throwIfAborted()
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#deps.clock, beatMs, signal)
      this.#detectPause()
    }
  }

  /** Detects that the process was paused. */
  #detectPause(): void {
    const atMs = this.#deps.clock.monotonicMs()
    if (atMs - this.#lastTickMs > this.#times.answerWithinMs * pausedAfter) {
      this.#failingSinceMs = atMs
      this.#renewNow.abort()
    }
    this.#lastTickMs = atMs
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#observer.next(this.#times.renewEveryMs, signal)
      const lease = this.#observer.lease()
      if (isLivenessRequested(lease) || holderOf(lease)?.identity !== this.#options.identity) this.#renewNow.abort()
    }
  }

  async #renew({ version: takenVersion, atMs }: Taken, lose: (reason: string) => void, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    const { renewWithinMs, renewEveryMs } = this.#times
    let [version, renewedMs]: [string, number] = [takenVersion, atMs]
    while (!signal.aborted) {
      await pause(clock, renewEveryMs, AbortSignal.any([signal, this.#renewNow.signal]))
      if (signal.aborted) return
      this.#renewNow = new AbortController()
      const startedMs = clock.monotonicMs()
      const leftMs = renewedMs + renewWithinMs - startedMs
      if (leftMs <= 0) return lose('the Lease could not be renewed in time')
      try {
        const next = await renewOnce(this.#deps, this.#options, version, deadline(Math.min(leftMs, callMs), signal))
        if (next === undefined) return lose('the Lease has another holder')
        ;[version, renewedMs] = [next, startedMs]
        if (this.#failingSinceMs !== undefined && this.#failingSinceMs <= startedMs) this.#failingSinceMs = undefined
        this.#renewed.resolve()
        this.#renewed = Promise.withResolvers()
      } catch (error) {
        if (signal.aborted) return
        log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'the Lease was not renewed')
      }
    }
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
