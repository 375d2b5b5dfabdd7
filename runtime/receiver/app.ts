/**
 * Serves webhooks: POST /webhook/{namespace}/{name}, or /webhook/{namespace} for all GatewaySyncs of a repository. Authenticates the raw
 * bytes, chooses the ref, writes the request annotations, answers. The annotations trigger the sync.
 */
import { type Context, Hono } from 'hono'
import pLimit from 'p-limit'
import { type Clock, pause } from '../platform/clock.ts'
import { TenantSlots } from '../platform/async/tenant-slots.ts'
import { Fault } from '../platform/fault.ts'
import { createLimits } from '../http/limits.ts'
import { createPeers, peerFrom } from '../http/client-address.ts'
import { failed, ignored, logFailure, noSuchRoute, notAuthenticated, problem, tooMany } from './answers.ts'
import {
  answerWithoutRef,
  authenticate,
  type Authenticated,
  logNotRequested,
  type Receiver,
  type Resource,
  type SourceAuthentication,
  write,
  type Written,
} from './accept-push.ts'
import { defaultLimits, maxWaitingCalls } from './limits.ts'
import type { ReceiverDeps } from './receiver-deps.ts'
import type { Answered, RefPayload } from './read-call.ts'
import { chooseRef, type ReceiverTarget } from './request/choose-ref.ts'
import type { SyncIndex } from './request/sync-index.ts'
import { createDedupe } from './request/dedupe.ts'
import { createWriteQueues } from './request/write-queue.ts'
import { createBodyBudget } from '../http/body.ts'
import { ComputeTurns } from '../platform/async/turns.ts'

/**
 * Minimum response time of a 401: timing must not reveal that a GatewaySync exists and has its own Secret, which may have to be read first.
 */
const refusedAfterMs = 200

/** Throws InvalidConfiguration when a trusted proxy is not an address. */
export function receiverApp(deps: ReceiverDeps): Hono {
  // A trailing slash, which some load balancers and forms add, makes no difference.
  const app = new Hono({ strict: false })
  const receiver = {
    ...deps,
    dedupe: createDedupe(),
    queues: writeQueues(deps),
    bodies: createBodyBudget(),
    turns: new ComputeTurns(deps.clock),
    slots: new TenantSlots(maxWaitingCalls),
  }
  const limits = createLimits({ ...defaultLimits, ...deps.limits })
  const peers = createPeers(deps.trustedProxies ?? [])
  const callerOf = (context: Context): string => peerFrom(context, peers)
  /** Counts an unauthenticated call; over the limit its client gets 429 instead. */
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
  // Not rate-limited: load balancers probe often, and share an address with the calls that they forward.
  app.get('/healthz', (context) => context.text('ok'))
  app.on('GET', ['/', '/webhook'], (context) => noSuchRoute(context))
  app.use(async (context, next) => (isPlainPath(context) ? await next() : await refuseUnread(context, noSuchRoute(context))))
  const answerCall = async (
    context: Context,
    resource: Partial<Resource>,
    call: (peer: string) => Promise<Answered>,
  ): Promise<Response> => {
    const startedMs = deps.clock.monotonicMs()
    const peer = callerOf(context)
    const all = await limits.call(peer)
    if (all.kind === 'over') return tooMany(deps, context, all)
    const { answer, isAuthenticated } = await call(peer).catch((error: unknown) => ({
      answer: failed(deps, context, error, resource),
      isAuthenticated: true,
    }))
    if (isAuthenticated) return answer
    if (answer.status === 401) await padResponseTime(deps.clock, startedMs, context.req.raw.signal)
    return await countFailure(context, peer, answer)
  }
  app.post('/webhook/:namespace/:name', (context) => answerCall(context, context.req.param(), (peer) => receive(receiver, context, peer)))
  app.post('/webhook/:namespace', (context) => answerCall(context, context.req.param(), (peer) => receiveForAll(receiver, context, peer)))
  app.on('ALL', ['/webhook/:namespace/:name', '/webhook/:namespace'], async (context) => {
    context.header('allow', 'POST')
    return await refuseUnread(context, problem(context, 'MethodNotAllowed', 'send webhooks with POST'))
  })
  app.notFound(async (context) => await refuseUnread(context, noSuchRoute(context)))
  return app
}

function writeQueues({ clock, budget, freeSlots }: ReceiverDeps): ReturnType<typeof createWriteQueues> {
  return createWriteQueues({
    clock,
    budget,
    freeSlots(resource) {
      const [namespace = '', name = ''] = resource.split('/')
      return freeSlots?.(namespace, name) ?? Number.POSITIVE_INFINITY
    },
  })
}

/** Whether the path was routed as sent: a proxy in front of the receiver checks it before URL parsing normalizes it. */
function isPlainPath(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as { incoming?: { url?: string } }
  return incoming?.url === undefined || incoming.url.split('?')[0] === new URL(context.req.url).pathname
}

/** Concurrent request writes of one call for a namespace. */
const writesAtOnce = 8

/** Waits until `refusedAfterMs` have passed since the call arrived. Ends early when the caller disconnects. */
async function padResponseTime(clock: Clock, startedMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = refusedAfterMs - (clock.monotonicMs() - startedMs)
  if (leftMs > 0) await pause(clock, leftMs, signal)
}

/** Handles one call: authenticate the raw bytes, choose the ref, write the request, answer. */
async function receive(receiver: Receiver, context: Context<object, '/:namespace/:name'>, peer: string): Promise<Answered> {
  const resource = context.req.param()
  const startedMs = receiver.clock.monotonicMs()
  const call = await authenticate(receiver, context, { ...resource, sources: new Map([['', [resource.name]]]) }, peer)
  if (call.kind === 'answered') return call
  const { payload } = call
  const target = receiver.lookup(resource.namespace, resource.name)
  if (target === undefined)
    return noSuchTarget(context, call, `there is no GatewaySync "${resource.name}" in namespace "${resource.namespace}"`)
  if (payload.kind !== 'ref') return answeredCall(answerWithoutRef(receiver, context, resource, payload))
  const chosen = chooseRef(payload, target)
  if ('why' in chosen) {
    logNotRequested(receiver, resource, payload, target, chosen)
    return answeredCall(ignored(receiver, context, chosen.why, payload.event))
  }
  return await withSlot(receiver, resource.namespace, async () => {
    const request = await write(receiver, context, resource, { ...chosen, startedMs }, target)
    if (call.authentications.get('')?.authentication.kind === 'open')
      receiver.notify?.(resource.namespace, resource.name, 'Unauthenticated')
    return context.json({ accepted: true, ...request }, 202)
  })
}

/** Bounds the waiting calls of a namespace, so that other namespaces keep connections. Throws ApiUnavailable, after which hosts retry. */
async function withSlot(receiver: Receiver, namespace: string, answer: () => Promise<Response>): Promise<Answered> {
  const release = receiver.slots.take(namespace)
  if (release === undefined) throw new Fault('ApiUnavailable', 'too many calls for the namespace wait for the API server')
  try {
    return answeredCall(await answer())
  } finally {
    release()
  }
}

/**
 * Handles a call for all GatewaySyncs of a namespace whose repository the body names. Each is authenticated with its own keys, so that the
 * answer reveals nothing about GatewaySyncs for which the call is not authenticated.
 */
async function receiveForAll(receiver: Receiver, context: Context<object, '/:namespace'>, peer: string): Promise<Answered> {
  const { namespace } = context.req.param()
  const startedMs = receiver.clock.monotonicMs()
  const syncs = receiver.syncs(namespace)
  const isEmpty = syncs.bySource.size === 0
  const call = await authenticate(receiver, context, { namespace, sources: isEmpty ? new Map([['', ['']]]) : syncs.bySource }, peer)
  if (call.kind === 'answered') return call
  const { payload } = call
  if (isEmpty) return noSuchTarget(context, call, `there is no GatewaySync in namespace "${namespace}"`)
  if (payload.kind !== 'ref') return answeredCall(answerWithoutRef(receiver, context, { namespace }, payload))
  const repositories = [payload, ...(payload.others ?? [])].map(({ repository }) => repository)
  if (repositories.every((repository) => repository === undefined))
    return answeredCall(problem(context, 'PayloadUnrecognized', 'the body names no repository; send it to /webhook/{namespace}/{name}'))
  const candidates = { syncs, names: syncs.following(repositories), authentications: call.authentications }
  return await withSlot(receiver, namespace, () => requestAll(receiver, context, candidates, { namespace, payload, startedMs }))
}

type Candidates = { syncs: SyncIndex; names: readonly string[] } & Pick<Authenticated, 'authentications'>

/** Requests the ref for each candidate that the call concerns, and answers with all results. */
async function requestAll(
  receiver: Receiver,
  context: Context,
  { syncs, names, authentications }: Candidates,
  { namespace, payload, startedMs }: { namespace: string; payload: RefPayload; startedMs: number },
): Promise<Response> {
  const limited = pLimit(writesAtOnce)
  const requests: Promise<Outcome>[] = []
  const refused: Refused[] = []
  for await (const name of receiver.turns.each(namespace, names)) {
    const own = authentications.get(syncs.keySourceOf(name) ?? '')
    if (own === undefined || (own.authentication.kind === 'refused' && own.keys.fault === undefined)) continue
    const { authentication, keys } = own
    const target = receiver.lookup(namespace, name)
    const chosen = target === undefined ? undefined : chooseRef(payload, target)
    if (target === undefined || chosen === undefined || ('why' in chosen && chosen.why === 'OtherRepository')) continue
    if (authentication.kind === 'refused') refused.push({ name, keys })
    else
      requests.push(
        limited(() =>
          requestOne(
            receiver,
            context,
            { namespace, name },
            { payload, target, chosen, startedMs, isOpen: authentication.kind === 'open' },
          ),
        ),
      )
  }
  const outcomes = await Promise.all(requests)
  const keyFault = notifyKeyFaults(receiver, namespace, refused)
  if (outcomes.length === 0 && keyFault !== undefined) return failed(receiver, context, keyFault, { namespace })
  if (outcomes.length === 0) return ignored(receiver, context, 'OtherRepository', payload.event)
  const reason = keyFault === undefined ? undefined : logFailure(receiver, keyFault, { namespace })
  const isAccepted = outcomes.some(({ accepted }) => accepted)
  // If other writes succeed, a forbidden one is permanent: an admission policy rejects it.
  const isIncomplete = keyFault !== undefined || outcomes.some((one) => one.isFailed && !(one.reason === 'Forbidden' && isAccepted))
  // The host repeats the call; accepted deliveries are then duplicates.
  if (isIncomplete) context.header('retry-after', '5')
  const shown = outcomes.map(({ isFailed: _failed, ...result }) => result)
  return context.json({ accepted: isAccepted, ...(reason && { reason }), results: shown }, isIncomplete ? 503 : 202)
}

/** A GatewaySync of the repository for which the call is not authenticated, because a key cannot be read. */
type Refused = { name: string } & Pick<SourceAuthentication, 'keys'>

/**
 * Notifies the owners of GatewaySyncs whose keys cannot be read, because the call may have been for them. Returns the fault if one of the
 * keys is the installation's: callers may see only that one.
 */
function notifyKeyFaults(receiver: Receiver, namespace: string, refused: readonly Refused[]): Fault | undefined {
  for (const { name } of refused) receiver.notify?.(namespace, name, 'AuthNotReady')
  return refused.find(({ keys }) => keys.fault === keys.installationFault)?.keys.fault
}

type ChosenRequest = {
  payload: RefPayload
  target: ReceiverTarget
  chosen: ReturnType<typeof chooseRef>
  startedMs: number
  isOpen: boolean
}
type Outcome = { name: string; accepted: boolean; isFailed: boolean; reason?: string } & Partial<Written>

/** Returns the result of a call for one of several GatewaySyncs; `isFailed`: repeating the call may succeed. Never rejects. */
async function requestOne(
  receiver: Receiver,
  context: Context,
  resource: Resource,
  { payload, target, chosen, startedMs, isOpen }: ChosenRequest,
): Promise<Outcome> {
  const { name } = resource
  if ('why' in chosen) {
    logNotRequested(receiver, resource, payload, target, chosen)
    receiver.observe('ignored', payload.event, chosen.why)
    return { name, accepted: false, isFailed: false, reason: chosen.why }
  }
  try {
    const written = await write(receiver, context, resource, { ...chosen, startedMs }, target)
    if (isOpen) receiver.notify?.(resource.namespace, name, 'Unauthenticated')
    return { name, accepted: true, isFailed: false, ...written }
  } catch (error) {
    const reason = logFailure(receiver, error, resource)
    return { name, accepted: false, isFailed: reason !== 'NotFound' && reason !== 'Rejected', reason }
  }
}

function answeredCall(answer: Response): Answered {
  return { kind: 'answered', answer, isAuthenticated: true }
}

/** 404 for authenticated callers only: others must not be able to detect which GatewaySyncs exist. */
function noSuchTarget(context: Context, { authentications }: Authenticated, detail: string): Answered {
  if ([...authentications.values()].some(({ authentication }) => authentication.kind === 'authenticated'))
    throw new Fault('NotFound', detail)
  return { kind: 'answered', answer: notAuthenticated(context), isAuthenticated: false }
}
