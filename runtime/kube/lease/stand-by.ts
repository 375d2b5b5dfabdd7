/**
 * What a replica does that does not lead: it keeps in touch with the one that does, and finds out when the Lease may be taken. A holder
 * that cannot be reached is asked by the Lease itself whether it is there, so that no broken network between two replicas makes a second
 * leader: whoever reaches the API server answers.
 */
import { backoffMs, deadline } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { leaseAnnotations } from '../../gatewaysync/names.ts'
import { type KubeObject, leaseType } from '../types.ts'
import { callMs, type LeaseDeps, type LeaseOptions } from './options.ts'
import { type Holder, holderOf, isAsked, isSameHolder } from './record.ts'
import type { Sight } from './sight.ts'

/** A healthy Lease is told of each two seconds; after so long without it is read. */
const unseenMs = 6_000
const lookAgainMs = 1_000
/** How long a holder is left alone that has answered while it could not be reached: that costs calls. */
const leaveAloneMs = { first: 1_000, most: 15_000 }
/** A holder that may only be slow gets so many times what it has promised. */
const patience = { gone: 1, silent: 3 }
/** A holder that was in touch for so long is asked at once when it is lost. */
const goodContactMs = 30_000
const mostAttempts = 3

/** A Lease as it was read; whoever takes it names its version. */
export type Free = { lease: KubeObject | undefined }

/** Settles when the Lease may be taken. Throws what reading and writing it throws. */
export async function standBy(deps: LeaseDeps, options: LeaseOptions, sight: Sight, signal: AbortSignal): Promise<Free> {
  const { kube, clock, log } = deps
  let answered = 0
  for (;;) {
    const lease = await kube.get(leaseType, options, deadline(callMs, signal))
    sight.see(lease)
    if (sight.isFree()) return { lease }
    const holder = holderOf(lease)
    const startedMs = clock.monotonicMs()
    const lost = holder === undefined ? undefined : await loseTouch(deps, options, sight, holder, signal)
    if (holder === undefined || lost === undefined) continue
    log.info({ name: holder.identity }, 'the leader does not answer, and is asked by the Lease whether it is there')
    const asked = await ask(deps, options, holder, signal)
    if (asked === undefined) continue
    if (!(await isAnswered(deps, options, sight, { asked, withinMs: (holder.answersWithinMs ?? 0) * patience[lost] }, signal)))
      return { lease: asked }
    answered = clock.monotonicMs() - startedMs > goodContactMs ? 1 : answered + 1
    log.warn({ name: holder.identity, reason: 'DeliveryUnreachable' }, 'the leader is there, but cannot be reached from here')
    await untilOccasion(deps, sight, holder, signal, backoffMs(answered, leaveAloneMs.first, leaveAloneMs.most, clock.random()))
  }
}

/** Keeps in touch until something must be looked at; tells how the holder is out of touch, where it has promised to answer questions. */
async function loseTouch(
  deps: LeaseDeps,
  { contact }: LeaseOptions,
  sight: Sight,
  holder: Holder,
  signal: AbortSignal,
): Promise<'gone' | 'silent' | undefined> {
  const { identity, address, answersWithinMs } = holder
  const own = new AbortController()
  const ending = AbortSignal.any([signal, own.signal])
  const occasion = untilOccasion(deps, sight, holder, ending).then(() => undefined)
  const canBeAsked = contact !== undefined && address !== undefined && answersWithinMs !== undefined
  const lost = canBeAsked ? contact({ identity, address }, ending) : occasion
  try {
    const how = await Promise.race([occasion, lost])
    signal.throwIfAborted()
    return how
  } finally {
    own.abort(new Error('another question'))
    await Promise.all([occasion, lost])
  }
}

/** Settles when the Lease seems to be free or another's, when nothing is heard of it, or after a time. */
async function untilOccasion(
  { clock }: LeaseDeps,
  sight: Sight,
  holder: Holder,
  signal: AbortSignal,
  atMostMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const endMs = clock.monotonicMs() + atMostMs
  const isQuiet = (): boolean => !sight.isFree() && isSameHolder(holderOf(sight.lease()), holder) && sight.silentMs() < unseenMs
  while (!signal.aborted && isQuiet()) {
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0) return
    await sight.next(Math.min(lookAgainMs, leftMs), signal)
  }
}

/** Returns the Lease with the question; undefined: it is another's by now. */
async function ask({ kube }: LeaseDeps, options: LeaseOptions, holder: Holder, signal: AbortSignal): Promise<KubeObject | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const lease = await kube.get(leaseType, options, deadline(callMs, signal))
      if (lease === undefined || !isSameHolder(holderOf(lease), holder)) return undefined
      // A question of another replica is ours too.
      if (isAsked(lease)) return lease
      const { resourceVersion } = lease.metadata
      const question = { metadata: { resourceVersion, annotations: { [leaseAnnotations.askedBy]: options.identity } } }
      return await kube.mergePatch(leaseType, options, question, {}, deadline(callMs, signal))
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === mostAttempts) throw error
    }
  }
}

/** Whether somebody has written the Lease since it was asked; false after as long as the holder promised to need. */
async function isAnswered(
  { kube, clock }: LeaseDeps,
  options: LeaseOptions,
  sight: Sight,
  { asked, withinMs }: { asked: KubeObject; withinMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = clock.monotonicMs() + withinMs
  sight.see(asked)
  for (;;) {
    for (let leftMs = withinMs; leftMs > 0 && isAsked(sight.lease()); leftMs = endMs - clock.monotonicMs()) {
      await sight.next(leftMs, signal)
      signal.throwIfAborted()
    }
    // The watch may tell of what was before.
    const lease = await kube.get(leaseType, options, deadline(callMs, signal))
    sight.see(lease)
    if (lease?.metadata.resourceVersion !== asked.metadata.resourceVersion) return true
    if (clock.monotonicMs() >= endMs) return false
  }
}
