/**
 * Elects a leader with a Lease: one holder at a time, by the API server's compare-and-swap. Durations are measured from when a change of
 * the Lease was observed here, so that clocks need not agree.
 */
import { deadline, pause } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { type KubeObject, leaseType } from '../types.ts'
import { type Lead, leadWhileHeld, type Taken } from './hold.ts'
import { callMs, type LeaseDeps, type LeaseOptions, timesOf } from './options.ts'
import { specOf, takenBy } from './record.ts'
import { createLeaseObserver, watchLease } from './observer.ts'
import { standBy } from './stand-by.ts'

/** Delay before the next attempt, with jitter so that replicas which failed together do not return together. */
const againMs = { least: 800, spread: 400 }

/**
 * Calls `lead` while the Lease is held; the signal of `lead` aborts when the Lease is lost. Returns when `signal` aborts, after `lead` has
 * settled and the Lease is released, so that another replica takes over at once. Never throws.
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
      log.warn({ reason: fault.reason, message: fault.message }, 'the Lease could not be taken')
    } finally {
      observer.leads(false)
    }
    await pause(clock, againMs.least + againMs.spread * clock.random(), signal)
  }
  await watching
}

/** Undefined when another replica was faster. */
async function take(
  { kube, clock }: LeaseDeps,
  options: LeaseOptions,
  lease: KubeObject | undefined,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  const { namespace, name } = options
  const atMs = clock.monotonicMs()
  const time = clock.now().toString({ fractionalSecondDigits: 6 })
  const { annotations, spec } = takenBy({ ...options, ...timesOf(options) }, specOf(lease), time)
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
