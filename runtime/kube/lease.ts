/**
 * Leader election over a Lease: one holder at a time, by the API server's own compare-and-swap. Durations are measured from when a
 * change of the Lease was seen here, so that clocks need not agree.
 */
import { type Clock, deadline } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import { deliveryAddressAnnotation } from '../gatewaysync/names.ts'
import type { Log } from '../log.ts'
import type { Kube } from './client.ts'
import { type KubeObject, leaseType } from './types.ts'

export type LeaseOptions = {
  namespace: string
  name: string
  identity: string
  /** Without a renewal for this long others may take over. */
  durationMs?: number
  /** The holder stops to lead when it could not renew for this long; less than the duration. */
  renewWithinMs?: number
  retryMs?: number
  /** Where the holder is found, told to others by an annotation of the Lease. */
  address?: string | undefined
  /** Where the holder is found, each time that the Lease is read; undefined: it is this process, or is not known. */
  onHolder?(address: string | undefined): void
}

type Deps = { kube: Kube; clock: Clock; log: Log }
type LeaseSpec = { holderIdentity?: string | null; renewTime?: string; leaseTransitions?: number; leaseDurationSeconds?: number }

/**
 * Calls `lead` while the Lease is held; its signal fires when the Lease is lost. Returns when the signal fires, after `lead` has settled
 * and the Lease was given back, so that another replica takes over at once.
 */
export async function runWithLease(
  deps: Deps,
  options: LeaseOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps
  // A Lease that is given back is taken within a second; one that is not runs out by itself.
  const { retryMs = 1_000 } = options
  let seen: { text: string; atMs: number } | undefined
  while (!signal.aborted) {
    try {
      const lease = await deps.kube.get(leaseType, options, signal)
      const text = JSON.stringify(lease?.spec ?? null)
      if (seen?.text !== text) seen = { text, atMs: clock.monotonicMs() }
      options.onHolder?.(specOf(lease).holderIdentity === options.identity ? undefined : addressOfHolder(lease))
      const takenMs = clock.monotonicMs()
      if (isFree(lease, seen.atMs, options, clock) && (await take(deps, options, lease, signal))) {
        options.onHolder?.(undefined)
        log.info({ name: options.identity }, 'leading')
        await leadWhileHeld(deps, options, takenMs, lead, signal)
        log.info({ name: options.identity }, 'not leading any more')
        seen = undefined
      }
    } catch (error) {
      if (signal.aborted) return
      const fault = asFault(error)
      // Another was faster.
      if (fault.reason !== 'Conflict') log.warn({ reason: fault.reason, message: fault.message }, 'the Lease could not be taken')
    }
    await clock.wait(retryMs * (0.8 + 0.4 * clock.random()), signal).catch(() => undefined)
  }
}

function specOf(lease: KubeObject | undefined): LeaseSpec {
  return lease?.spec ?? {}
}

/** What the holder has written of itself; an earlier one may have left its own when the Lease was given back. */
function addressOfHolder(lease: KubeObject | undefined): string | undefined {
  const { holderIdentity } = specOf(lease)
  return holderIdentity === undefined || holderIdentity === null || holderIdentity === ''
    ? undefined
    : lease?.metadata.annotations?.[deliveryAddressAnnotation]
}

/** Whether nobody holds it, we do, or its holder has been silent for as long as it promised not to be. */
function isFree(lease: KubeObject | undefined, seenMs: number, { identity }: LeaseOptions, clock: Clock): boolean {
  const { holderIdentity, leaseDurationSeconds = 15 } = specOf(lease)
  if (holderIdentity === undefined || holderIdentity === null || holderIdentity === '' || holderIdentity === identity) return true
  return clock.monotonicMs() - seenMs > leaseDurationSeconds * 1000
}

/** False when another was faster. */
async function take({ kube, clock }: Deps, options: LeaseOptions, lease: KubeObject | undefined, signal: AbortSignal): Promise<boolean> {
  const { namespace, name, identity, address = null, durationMs = 15_000 } = options
  const before = specOf(lease)
  const now = clock.now().toString({ fractionalSecondDigits: 6 })
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.round(durationMs / 1000)),
    acquireTime: now,
    renewTime: now,
    leaseTransitions: (before.leaseTransitions ?? 0) + (before.holderIdentity === identity ? 0 : 1),
  }
  try {
    if (lease === undefined) {
      const annotations = address === null ? {} : { [deliveryAddressAnnotation]: address }
      const metadata = { namespace, name, annotations }
      await kube.create(leaseType, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, signal)
    } else {
      // Without the version anybody would take it.
      const { resourceVersion } = lease.metadata
      const metadata = { resourceVersion, annotations: { [deliveryAddressAnnotation]: address } }
      await kube.mergePatch(leaseType, options, { metadata, spec }, {}, signal)
    }
    return true
  } catch (error) {
    if (error instanceof Fault && error.reason === 'Conflict') return false
    throw error
  }
}

/** `takenMs`: when the request that took the Lease was begun; from then on others count. */
async function leadWhileHeld(
  deps: Deps,
  options: LeaseOptions,
  takenMs: number,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  const own = AbortSignal.any([signal, lost.signal])
  const renewing = renew(deps, options, takenMs, lost, own)
  try {
    await lead(own)
  } finally {
    lost.abort(new Error('not leading any more'))
    await renewing
    await release(deps, options)
  }
}

/** Fires `lost` when the Lease is another's, or could not be renewed in time; no request may outlast that time. */
async function renew(deps: Deps, options: LeaseOptions, takenMs: number, lost: AbortController, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  const { renewWithinMs = 10_000, retryMs = 2_000 } = options
  let renewedMs = takenMs
  let version: string | undefined
  while (!signal.aborted) {
    await clock.wait(retryMs, signal).catch(() => undefined)
    if (signal.aborted) return
    const leftMs = renewedMs + renewWithinMs - clock.monotonicMs()
    if (leftMs <= 0) return lost.abort(new Error('the Lease could not be renewed in time'))
    const startedMs = clock.monotonicMs()
    try {
      version = await renewOnce(deps, options, version, deadline(leftMs, signal))
      if (version === undefined) return lost.abort(new Error('the Lease has another holder'))
      renewedMs = startedMs
    } catch (error) {
      if (signal.aborted) return
      log.warn({ reason: asFault(error).reason, message: asFault(error).message }, 'the Lease was not renewed')
    }
  }
}

/** Undefined when it is another's, else its version from now on. `known`: the version that we wrote last; only where another did, it is read. */
async function renewOnce(deps: Deps, options: LeaseOptions, known: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  const { kube, clock } = deps
  const write = async (resourceVersion: string): Promise<string> => {
    const spec = { renewTime: clock.now().toString({ fractionalSecondDigits: 6 }) }
    return (await kube.mergePatch(leaseType, options, { metadata: { resourceVersion }, spec }, {}, signal)).metadata.resourceVersion
  }
  if (known !== undefined) {
    try {
      return await write(known)
    } catch (error) {
      if (!(error instanceof Fault) || (error.reason !== 'Conflict' && error.reason !== 'NotFound')) throw error
    }
  }
  const lease = await kube.get(leaseType, options, signal)
  if (lease === undefined || specOf(lease).holderIdentity !== options.identity) return undefined
  return await write(lease.metadata.resourceVersion)
}

/** Others then need not wait for it to run out. */
async function release({ kube, log }: Deps, options: LeaseOptions): Promise<void> {
  try {
    const signal = AbortSignal.timeout(2_000)
    const lease = await kube.get(leaseType, options, signal)
    if (lease === undefined || specOf(lease).holderIdentity !== options.identity) return
    const patch = { metadata: { resourceVersion: lease.metadata.resourceVersion }, spec: { holderIdentity: '', leaseDurationSeconds: 1 } }
    await kube.mergePatch(leaseType, options, patch, {}, signal)
  } catch (error) {
    log.warn({ reason: asFault(error).reason }, 'the Lease was not given back; it runs out by itself')
  }
}
