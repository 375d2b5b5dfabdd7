/**
 * Elects a leader with a Lease: one holder at a time, by the API server's compare-and-swap. Durations are measured from when a change of
 * the Lease was observed here, so that clocks need not agree.
 */
import { deadline, pause, backoffMs } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { type KubeObject, leaseType } from '../types.ts'
import { type Lead, leadWhileHeld, type Taken } from './hold.ts'
import {
  callMs,
  type LeaseDeps,
  type LeaseOptions,
  timesOf,
  leaseSpec,
  takenBy,
  type Holder,
  holderOf,
  isLivenessRequested,
  isSameHolder,
} from './lease.ts'
import { createLeaseObserver, watchLease, type LeaseObserver } from './observer.ts'
import { leaseAnnotations } from '../../api/names.ts'

/** Delay before the next attempt, with jitter so that replicas which failed together do not return together. */
const retryDelayMs = { least: 800, spread: 400 }

/**
 * Calls `lead` while the Lease is held; the signal of `lead` aborts when the Lease is lost. Returns when `signal` aborts, after `lead` has
 * settled and the Lease is released, so that another replica takes over immediately. Never throws.
 */
export async function runWithLease(deps: LeaseDeps, options: LeaseOptions, lead: Lead, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  const observer = createLeaseObserver(clock, options)
  const watching = watchLease(deps, options, observer, signal)
  while (!signal.aborted) {
    try {
      const { lease } = await standBy(deps, options, observer, signal)
      const taken = await take(deps, options, lease, deadline(callMs, signal))
      if (taken === undefined) continue
      observer.leads(true)
      log.info({ name: options.identity }, 'leading')
      await leadWhileHeld(deps, options, { taken, observer }, lead, signal)
      log.info({ name: options.identity }, 'no longer leading')
    } catch (error) {
      if (signal.aborted) break
      const fault = asFault(error)
      log.warn({ reason: fault.reason, message: fault.message }, 'the Lease could not be acquired')
    } finally {
      observer.leads(false)
    }
    await pause(clock, retryDelayMs.least + retryDelayMs.spread * clock.random(), signal)
  }
  await watching
}

/** Takes the Lease; undefined if another replica was faster. */
async function take(
  { kube, clock }: LeaseDeps,
  options: LeaseOptions,
  lease: KubeObject | undefined,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  const { namespace, name } = options
  const atMs = clock.monotonicMs()
  const time = clock.now().toString({ fractionalSecondDigits: 6 })
  const { annotations, spec } = takenBy({ ...options, ...timesOf(options) }, leaseSpec(lease), time)
  try {
    if (lease === undefined) {
      const written = Object.fromEntries(Object.entries(annotations).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
      const metadata = { namespace, name, annotations: written }
      const made = await kube.create(leaseType, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, signal)
      return { version: made.metadata.resourceVersion, atMs }
    }
    // With the version, the API server rejects this patch after a concurrent write.
    const metadata = { resourceVersion: lease.metadata.resourceVersion, annotations }
    const made = await kube.mergePatch(leaseType, options, { metadata, spec }, {}, signal)
    return { version: made.metadata.resourceVersion, atMs }
  } catch (error) {
    if (error instanceof Fault && error.reason === 'Conflict') return undefined
    throw error
  }
}

/** The watch shows a healthy Lease every two seconds; the Lease is read if the watch shows nothing for this long. */
const unseenMs = 6_000
const pollIntervalMs = 1_000
/** Delay before an unreachable holder that answered through the Lease is queried again: each query costs API calls. */
const requeryDelayMs = { first: 1_000, most: 15_000 }
/** Multiple of the promised answer time that a holder gets: one that does not respond may only be slow. */
const patience = { gone: 1, silent: 3 }
/** After this long in contact a holder counts as reachable again, and the query delay is reset. */
const goodContactMs = 30_000
const maxAttempts = 3

/** The Lease as it was read, undefined when there is none. Taking it must name this version. */
type Free = { lease: KubeObject | undefined }

/**
 * Monitors the leader, and determines when the Lease may be taken. An unreachable holder is queried through the Lease itself, so that a
 * broken network between two replicas does not make a second leader: a holder that still reaches the API server answers there. Settles
 * when the Lease may be taken. Throws what reading and writing it throws.
 */
async function standBy(deps: LeaseDeps, options: LeaseOptions, observer: LeaseObserver, signal: AbortSignal): Promise<Free> {
  const { kube, clock, log } = deps
  let answered = 0
  for (;;) {
    const lease = await kube.get(leaseType, options, deadline(callMs, signal))
    observer.see(lease)
    if (observer.isFree()) return { lease }
    const holder = holderOf(lease)
    const startedMs = clock.monotonicMs()
    const lost = holder === undefined ? undefined : await untilUnanswered(deps, options, observer, holder, signal)
    if (holder === undefined || lost === undefined) continue
    log.info({ name: holder.identity }, 'leader does not answer; probing it through the Lease')
    const requested = await requestLiveness(deps, options, holder, signal)
    if (requested === undefined) continue
    if (!(await isAnswered(deps, options, observer, { requested, withinMs: (holder.answersWithinMs ?? 0) * patience[lost] }, signal)))
      return { lease: requested }
    answered = clock.monotonicMs() - startedMs > goodContactMs ? 1 : answered + 1
    log.warn({ name: holder.identity, reason: 'DeliveryUnreachable' }, 'the leader is alive, but cannot be reached from here')
    await untilCheckDue(deps, observer, holder, signal, backoffMs(answered, requeryDelayMs.first, requeryDelayMs.most, clock.random()))
  }
}

/** Monitors the holder until something must be checked. Returns how contact was lost; undefined when the Lease itself must be read. */
async function untilUnanswered(
  deps: LeaseDeps,
  { contact }: LeaseOptions,
  observer: LeaseObserver,
  holder: Holder,
  signal: AbortSignal,
): Promise<'gone' | 'silent' | undefined> {
  const { identity, address, answersWithinMs } = holder
  const own = new AbortController()
  const ending = AbortSignal.any([signal, own.signal])
  const occasion = untilCheckDue(deps, observer, holder, ending).then(() => undefined)
  const canBeProbed = contact !== undefined && address !== undefined && answersWithinMs !== undefined
  const lost = canBeProbed ? contact({ identity, address }, ending) : occasion
  try {
    const how = await Promise.race([occasion, lost])
    signal.throwIfAborted()
    return how
  } finally {
    own.abort(new Error('the check is over'))
    await Promise.all([occasion, lost])
  }
}

/** Settles when the Lease seems free or has another holder, when it has not been observed for 6 s, or after `atMostMs`. */
async function untilCheckDue(
  { clock }: LeaseDeps,
  observer: LeaseObserver,
  holder: Holder,
  signal: AbortSignal,
  atMostMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const endMs = clock.monotonicMs() + atMostMs
  const isQuiet = (): boolean => !observer.isFree() && isSameHolder(holderOf(observer.lease()), holder) && observer.silentMs() < unseenMs
  while (!signal.aborted && isQuiet()) {
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) return
    await observer.next(Math.min(pollIntervalMs, leftMs), signal)
  }
}

/** Writes the query into the Lease. Returns the Lease with it; undefined: the holder has changed. */
async function requestLiveness(
  { kube }: LeaseDeps,
  options: LeaseOptions,
  holder: Holder,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const lease = await kube.get(leaseType, options, deadline(callMs, signal))
      if (lease === undefined || !isSameHolder(holderOf(lease), holder)) return undefined
      // The answer to another replica's query serves as well.
      if (isLivenessRequested(lease)) return lease
      const { resourceVersion } = lease.metadata
      const question = { metadata: { resourceVersion, annotations: { [leaseAnnotations.askedBy]: options.identity } } }
      return await kube.mergePatch(leaseType, options, question, {}, deadline(callMs, signal))
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === maxAttempts) throw error
    }
  }
}

/** Whether the Lease has been written since the query; false after `withinMs` without. */
async function isAnswered(
  { kube, clock }: LeaseDeps,
  options: LeaseOptions,
  observer: LeaseObserver,
  { requested, withinMs }: { requested: KubeObject; withinMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = clock.monotonicMs() + withinMs
  observer.see(requested)
  for (;;) {
    for (let leftMs = withinMs; leftMs > 0 && isLivenessRequested(observer.lease()); leftMs = endMs - clock.monotonicMs()) {
      await observer.next(leftMs, signal)
      signal.throwIfAborted()
    }
    // The watch may lag behind: only a read is certain.
    const lease = await kube.get(leaseType, options, deadline(callMs, signal))
    observer.see(lease)
    if (lease?.metadata.resourceVersion !== requested.metadata.resourceVersion) return true
    if (clock.monotonicMs() >= endMs) return false
  }
}
