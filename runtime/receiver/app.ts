/**
 * Flow A: POST /webhook/{namespace}/{crName}. Authenticate the raw bytes, choose the ref, write the request annotations, answer. It never
 * syncs itself: the annotations do.
 */
import { type Context, Hono } from 'hono'
import { type Clock, pause, timestamp } from '../clock.ts'
import { Fault } from '../fault.ts'
import { requestAnnotations } from '../gatewaysync/names.ts'
import { expectedBytes } from '../http/body.ts'
import { type BodyBudget, createBodyBudget } from '../http/body-budget.ts'
import { createLimits, type LimitSettings } from '../http/limits.ts'
import { createPeers, remoteOf } from '../http/peer.ts'
import type { Log } from '../log.ts'
import { failed, ignored, noSuchRoute, notAuthenticated, problem, type ReceiverOutcome, tooMany } from './answers.ts'
import { bodyLimits, defaultLimits } from './limits.ts'
import type { Tracing } from '../tracing/trace.ts'
import { callId } from './payload/headers.ts'
import type { Event, NamedRef } from './payload/parts.ts'
import type { Keys } from './prove/authenticate.ts'
import { type Answered, type Call, readCall } from './read-call.ts'
import { chooseRef, type ReceiverTarget } from './request/choose-ref.ts'
import { createDedupe, type Dedupe } from './request/dedupe.ts'
import { type Budget, createWriteQueues, type RequestToWrite, type WriteQueues } from './request/write-queue.ts'

/**
 * `RefNotAllowed`: an authenticated call asks for a ref that `allowedRefs` does not permit. `Unproved`: a call was accepted without
 * authentication, because no key is configured. `AuthNotReady`: a call was refused while a configured key cannot be read.
 */
export type ReceiverNotice = 'RefNotAllowed' | 'Unproved' | 'AuthNotReady'

/** What the receiver works with; the controller's entry builds it over the API server. */
export type ReceiverDeps = {
  /** Undefined: there is no such GatewaySync. Throws ApiUnavailable while that cannot be known. */
  lookup(namespace: string, name: string): ReceiverTarget | undefined
  /** The keys for a GatewaySync; for one that does not exist, those of the installation. */
  keys(namespace: string, name: string): Promise<Keys>
  /** How many more requests of a GatewaySync may wait for an outcome; without it any number. Never throws. */
  freeSlots?(namespace: string, name: string): number
  /**
   * Writes all annotations in one patch, which also names the requests that it supersedes: those on the object without an outcome, and
   * `superseded`. Throws NotFound, ApiUnavailable.
   */
  request(namespace: string, name: string, annotations: Record<string, string>, superseded: RequestToWrite['superseded']): Promise<void>
  /** Tells the owner of the GatewaySync, by an Event; many equal notices become one. */
  notify?(namespace: string, name: string, notice: ReceiverNotice): void
  /** `source`: the kind of event, if it is known. */
  observe(outcome: ReceiverOutcome, source?: Event): void
  /** Called when a request is written: a trace begins with it. */
  began?: Tracing['began']
  /** Proxies whose X-Forwarded-For is trusted: addresses or `address/prefix`. */
  trustedProxies?: readonly string[]
  limits?: Partial<LimitSettings>
  /** Bounds the writes to one GatewaySync. */
  budget?: Budget
  clock: Clock
  log: Log
}

/**
 * Every refusal takes at least this long: the time must not reveal that a GatewaySync exists and has a Secret of its own, which may have to be
 * read first.
 */
const refusedAfterMs = 200

/** Throws InvalidConfiguration when a trusted proxy is no address. */
export function receiverApp(deps: ReceiverDeps): Hono {
  const app = new Hono()
  const queues = createWriteQueues({
    clock: deps.clock,
    budget: deps.budget,
    freeSlots(resource) {
      const [namespace = '', name = ''] = resource.split('/')
      return deps.freeSlots?.(namespace, name) ?? Number.POSITIVE_INFINITY
    },
  })
  const receiver = { ...deps, dedupe: createDedupe(), queues, bodies: createBodyBudget() }
  const limits = createLimits({ ...defaultLimits, ...deps.limits })
  const peers = createPeers(deps.trustedProxies ?? [])
  const callerOf = (context: Context): string => peers.of(remoteOf(context), context.req.header('x-forwarded-for'))
  /** Counts an unauthenticated call; over the limit its peer gets only that as an answer. */
  const countFailure = async (context: Context, peer: string, answer: Response): Promise<Response> => {
    const own = await limits.failure(peer)
    if (own.kind === 'over') return tooMany(deps, context, own)
    deps.observe(answer.status === 401 ? 'refused' : answer.status === 503 ? 'failed' : 'malformed')
    return answer
  }
  const refuseUnread = async (context: Context, answer: Response): Promise<Response> => {
    const peer = callerOf(context)
    const all = await limits.call(peer)
    return all.kind === 'over' ? tooMany(deps, context, all) : await countFailure(context, peer, answer)
  }
  app.use(async (context, next) => (isPlainPath(context) ? await next() : await refuseUnread(context, noSuchRoute(context))))
  app.post('/webhook/:namespace/:name', async (context) => {
    const { namespace, name } = context.req.param()
    const startedMs = deps.clock.monotonicMs()
    const peer = callerOf(context)
    const all = await limits.call(peer)
    if (all.kind === 'over') return tooMany(deps, context, all)
    const { answer, proved } = await receive(receiver, context, peer).catch((error: unknown) => ({
      answer: failed(deps, context, error, namespace, name),
      proved: true,
    }))
    if (proved) return answer
    if (answer.status === 401) await padResponseTime(deps.clock, startedMs, context.req.raw.signal)
    return await countFailure(context, peer, answer)
  })
  app.all('/webhook/:namespace/:name', async (context) => {
    context.header('allow', 'POST')
    return await refuseUnread(context, problem(context, 'MethodNotAllowed', 'this route takes POST'))
  })
  app.notFound(async (context) => await refuseUnread(context, noSuchRoute(context)))
  return app
}

/** Whether the path of the call is the one that is routed, for a proxy in front of the receiver judges the path as it was sent. */
function isPlainPath(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as { incoming?: { url?: string } }
  return incoming?.url === undefined || incoming.url.split('?')[0] === new URL(context.req.url).pathname
}

/** Waits until `refusedAfterMs` have passed since the call came. Ends early when the caller has left. */
async function padResponseTime(clock: Clock, startedMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = refusedAfterMs - (clock.monotonicMs() - startedMs)
  if (leftMs > 0) await pause(clock, leftMs, signal)
}

/** What an app keeps between calls. */
type Receiver = ReceiverDeps & { dedupe: Dedupe; queues: WriteQueues; bodies: BodyBudget }

/** The GatewaySync that a call is about. */
type Resource = { namespace: string; name: string }

/** One call: authenticate the raw bytes, choose the ref, write the request, answer. */
async function receive(receiver: Receiver, context: Context<object, '/:namespace/:name'>, peer: string): Promise<Answered> {
  const resource = context.req.param()
  const startedMs = receiver.clock.monotonicMs()
  const call = await authenticate(receiver, context, peer)
  if (call.kind === 'answered') return call
  const target = receiver.lookup(resource.namespace, resource.name)
  if (target === undefined) return noSuchTarget(context, call, resource)
  const chosen = choose(receiver, context, resource, call, target)
  if (chosen instanceof Response) return { kind: 'answered', answer: chosen, proved: true }
  const request = await write(receiver, context, resource, { ...chosen, startedMs }, target)
  if (call.method === 'open') receiver.notify?.(resource.namespace, resource.name, 'Unproved')
  return { kind: 'answered', answer: accepted(receiver, context, resource, chosen, request), proved: true }
}

/** Reads and authenticates the body, as soon as there is memory for it. */
async function authenticate(receiver: Receiver, context: Context<object, '/:namespace/:name'>, peer: string): Promise<Call | Answered> {
  const { namespace, name } = context.req.param()
  const { bodies, notify, observe, clock, log } = receiver
  const keys = await receiver.keys(namespace, name)
  const body = { bytes: expectedBytes(context.req.raw, bodyLimits.maxBytes), peer }
  const deps = { observe, clock, log, keyMissing: () => notify?.(namespace, name, 'AuthNotReady') }
  const call = await bodies.hold(body, () => readCall(deps, context, keys))
  return call ?? { kind: 'answered', answer: tooMany(receiver, context, { kind: 'over', retryAfterSeconds: 1 }), proved: true }
}

/** 404 for authenticated callers only: without a key of the installation nobody is, and callers must not learn which GatewaySyncs exist. */
function noSuchTarget(context: Context, { method }: Call, { namespace, name }: Resource): Answered {
  if (method === 'open') return { kind: 'answered', answer: notAuthenticated(context), proved: false }
  throw new Fault('NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
}

/** The ref that the call asks for, or the answer to a call that asks for none. */
function choose(
  receiver: Receiver,
  context: Context,
  { namespace, name }: Resource,
  { payload }: Call,
  target: ReceiverTarget,
): NamedRef | Response {
  if (payload.kind === 'ping') return ignored(receiver, context, 'Ping')
  if (payload.kind === 'ignored') return ignored(receiver, context, payload.reason)
  const chosen = chooseRef(payload, target)
  if (!('why' in chosen)) return chosen
  if (chosen.why === 'RefNotAllowed') receiver.notify?.(namespace, name, 'RefNotAllowed')
  return ignored(receiver, context, chosen.why, payload.event)
}

type Written = { requestId: string; duplicate: boolean }

/** Writes the request of a call, or finds the one that it shares with its repeats and with other calls for the same ref. */
async function write(
  { dedupe, queues, request, began, clock }: Receiver,
  context: Context,
  { namespace, name }: Resource,
  { ref, event, startedMs }: NamedRef & { startedMs: number },
  { specRef }: ReceiverTarget,
): Promise<Written> {
  const writeNow = async ({ id, superseded }: RequestToWrite): Promise<void> => {
    const annotations = {
      [requestAnnotations.ref]: ref,
      [requestAnnotations.at]: timestamp(clock.now()),
      [requestAnnotations.by]: event,
      [requestAnnotations.id]: id,
      [requestAnnotations.specRef]: specRef,
    }
    await request(namespace, name, annotations, superseded)
    const now = { endedAtMs: clock.now().epochMilliseconds, durationMs: clock.monotonicMs() - startedMs }
    began?.(id, { name: 'push', kind: 'server', ...now, reason: 'ok', attributes: { namespace, name, ref, source: event } })
  }
  const scope = JSON.stringify([namespace, name, ref])
  return await dedupe.once(scope, callId(context.req.header()), () => queues.enqueue(`${namespace}/${name}`, ref, writeNow))
}

function accepted(
  { observe, log }: Receiver,
  context: Context,
  { namespace, name }: Resource,
  { ref, event }: NamedRef,
  { requestId, duplicate }: Written,
): Response {
  observe(duplicate ? 'duplicate' : 'accepted', event)
  log.info({ namespace, name, ref, requestId }, duplicate ? 'push repeated' : 'push accepted')
  return context.json({ accepted: true, ...(duplicate ? { duplicate } : {}), ref, requestId, source: event }, 202)
}
