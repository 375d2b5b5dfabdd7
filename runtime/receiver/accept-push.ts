/**
 * Processes a webhook call for one or several GatewaySyncs: authenticate, choose the ref, write the request.
 */
import type { Context } from 'hono'
import { timestamp } from '../platform/clock.ts'
import { moveText } from '../reconcile/decide/request.ts'
import { requestAnnotations } from '../api/names.ts'
import { printable } from '../api/values.ts'
import { expectedBytes, type BodyBudget } from '../http/body.ts'
import type { TenantSlots } from '../platform/async/tenant-slots.ts'
import { redactUrls } from '../platform/log/redact.ts'
import { ignored, tooMany } from './answers.ts'
import type { ReceiverDeps } from './receiver-deps.ts'
import { bodyLimits, hashLimits, maxHeldOfBody } from './limits.ts'
import { type Event, type NamedRef, callId } from './payload/parts.ts'
import type { Keys, Authentication } from './authenticate.ts'
import { type Answered, type RefPayload, type Call, readCall, type UsablePayload } from './read-call.ts'
import type { NotRequested, ReceiverTarget } from './request/choose-ref.ts'
import type { Dedupe } from './request/dedupe.ts'
import type { RequestToWrite, WriteQueues } from './request/write-queue.ts'
import type { ComputeTurns } from '../platform/async/turns.ts'

/** The collaborators and the state that all calls of one app share. */
export type Receiver = ReceiverDeps & { dedupe: Dedupe; queues: WriteQueues; bodies: BodyBudget; turns: ComputeTurns; slots: TenantSlots }

/** The GatewaySync that a call is about. */
export type Resource = { namespace: string; name: string }

/** The result of authentication with the keys of each source that was tried. */
export type Authenticated = Omit<Call, 'authentications'> & { authentications: ReadonlyMap<string, SourceAuthentication> }
export type SourceAuthentication = { authentication: Authentication; keys: Keys }

/**
 * Reads the body once there is memory for it, and authenticates it with the keys of each source; `sources` has the names of its
 * GatewaySyncs.
 */
export async function authenticate(
  receiver: Receiver,
  context: Context,
  { namespace, sources }: { namespace: string; sources: ReadonlyMap<string, Iterable<string>> },
  peer: string,
): Promise<Authenticated | Answered> {
  const { bodies, notify, observe, clock, log } = receiver
  const keys = await readKeys(receiver, namespace, sources)
  const body = { bytes: Math.min(expectedBytes(context.req.raw, bodyLimits.maxBytes), maxHeldOfBody), peer }
  const keyUnreadable = (): void => {
    for (const [source, { fault }] of keys) {
      const concerned = fault === undefined ? [] : [...(sources.get(source) ?? [])].slice(0, maxNotified)
      for (const name of concerned) notify?.(namespace, name, 'AuthNotReady')
    }
  }
  const read = (signal?: AbortSignal): Promise<Call | Answered> =>
    readCall({ observe, clock, log, keyUnreadable }, context, [...keys.values()], signal)
  const call = await bodies.hold(body, read)
  if (call === undefined) {
    return { kind: 'answered', answer: tooMany(receiver, context, { kind: 'over', retryAfterSeconds: 1 }), isAuthenticated: true }
  }
  if (call.kind === 'answered') return call
  const authentications = new Map(
    [...keys].map(
      ([source, own], index) => [source, { keys: own, authentication: call.authentications[index] ?? { kind: 'refused' } }] as const,
    ),
  )
  return { kind: 'call', payload: call.payload, authentications }
}

/** Calls without a key cause notices too: notifying the owners of thousands of GatewaySyncs would take milliseconds. */
const maxNotified = 64

/**
 * Returns the keys of each source. Reads at most `hashLimits.maxKeys` sources, and stops at as many keys, to bound the cost of
 * unauthenticated callers.
 */
async function readKeys(receiver: Receiver, namespace: string, sources: ReadonlyMap<string, Iterable<string>>): Promise<Map<string, Keys>> {
  const first = [...sources].slice(0, hashLimits.maxKeys)
  const all = await Promise.all(first.map(async ([source, [name = '']]) => [source, await receiver.keys(namespace, name)] as const))
  let count = 0
  return new Map(
    all.filter(([, { hmac = [], tokens = [] }]) => {
      count += hmac.length + tokens.length
      return count <= hashLimits.maxKeys
    }),
  )
}

/** The answer to a call that requests no ref. */
export function answerWithoutRef(
  receiver: Receiver,
  context: Context,
  resource: Partial<Resource>,
  payload: Exclude<UsablePayload, RefPayload>,
): Response {
  if (payload.kind === 'ping') return ignored(receiver, context, 'Ping')
  receiver.log.info({ ...resource, reason: payload.reason }, 'push ignored')
  return ignored(receiver, context, payload.reason)
}

/** Logs why no ref is requested; the owner of the GatewaySync is notified of a ref that is not allowed. */
export function logNotRequested(
  { log, notify }: Receiver,
  { namespace, name }: Resource,
  payload: RefPayload,
  target: ReceiverTarget,
  chosen: { why: NotRequested },
): void {
  log.info({ namespace, name, reason: chosen.why, ref: payload.ref, message: whyIgnored(chosen.why, payload, target) }, 'push ignored')
  if (chosen.why === 'RefNotAllowed') notify?.(namespace, name, 'RefNotAllowed')
}

/** Returns one sentence for the log, with the setting to change if the call was meant for this GatewaySync. */
function whyIgnored(why: NotRequested, { event, repository }: NamedRef, { desiredRef, repository: own = '' }: ReceiverTarget): string {
  if (why !== 'OtherRepository') return `a ${event} event while ${desiredRef} is followed`
  const named = repository?.urls[0] ?? repository?.path ?? ''
  return redactUrls(`the event is for ${printable(named)}, not for ${own}; if both are the same repository, set spec.webhook.repo`, 1_024)
}

/** The answer to an accepted call. */
export type Written = { ref: string; requestId: string; source: Event; duplicate?: true }

/** Writes the request of a call, or returns the one shared with its repeats and with other calls for the same ref. */
export async function write(
  { dedupe, queues, request, isRefused, began, observe, clock, log }: Receiver,
  context: Context,
  { namespace, name }: Resource,
  { ref, event, move, startedMs }: NamedRef & { startedMs: number },
  { specRef }: ReceiverTarget,
): Promise<Written> {
  const writeNow = async ({ id, superseded }: RequestToWrite): Promise<void> => {
    const annotations = {
      [requestAnnotations.ref]: ref,
      [requestAnnotations.at]: timestamp(clock.now()),
      [requestAnnotations.by]: event,
      [requestAnnotations.id]: id,
      [requestAnnotations.specRef]: specRef,
      // An empty value replaces the move of an earlier request.
      [requestAnnotations.move]: moveText(move) ?? '',
    }
    await request(namespace, name, annotations, superseded)
    const now = { endedAtMs: clock.now().epochMilliseconds, durationMs: clock.monotonicMs() - startedMs }
    began?.(id, { name: 'push', kind: 'server', ...now, reason: 'ok', attributes: { namespace, name, ref, source: event } })
  }
  const scope = JSON.stringify([name, ref])
  const isLost = (requestId: string): boolean => isRefused?.(namespace, name, requestId) === true
  const enqueue = (): Promise<string> => queues.enqueue(`${namespace}/${name}`, ref, writeNow)
  const { requestId, duplicate } = await dedupe.once(namespace, scope, callId(context.req.header()), enqueue, isLost)
  observe(duplicate ? 'duplicate' : 'accepted', event)
  log.info({ namespace, name, ref, requestId }, duplicate ? 'push repeated' : 'push accepted')
  return { ...(duplicate ? { duplicate } : {}), ref, requestId, source: event }
}
