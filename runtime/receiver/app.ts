/**
 * Flow A: POST /webhook/{namespace}/{crName}. Authenticate the raw bytes, find the ref, write the request annotations, answer. It never
 * syncs itself: the annotation does.
 */
import { type Context, Hono } from 'hono'
import { type Clock, timestamp } from '../clock.ts'
import { Fault } from '../fault.ts'
import { isRefAllowed } from '../gatewaysync/decide/allowed-refs.ts'
import { requestAnnotations } from '../gatewaysync/names.ts'
import { shortRef } from '../gatewaysync/values.ts'
import { type Body, discard, expectedBytes, parseBody, readBody } from '../http/body.ts'
import { createScan } from '../json-scan.ts'
import { type BodyBudget, createBodyBudget } from '../http/body-budget.ts'
import { createLimits, type LimitSettings } from '../http/limits.ts'
import { createPeers, remoteOf } from '../http/peer.ts'
import type { Log } from '../log.ts'
import type { IgnoredReason } from './answer-table.ts'
import { cutOff, failed, ignored, problem, type ReceiverOutcome, tooLarge, tooMany } from './answers.ts'
import { beginProving, type Keys } from './prove/authenticate.ts'
import { deliveryId } from './payload/headers.ts'
import { createDeliveries, type Deliveries } from './request/dedupe.ts'
import { bodyLimits, defaultLimits } from './limits.ts'
import { type Budget, createLines, type Lines, type Turn } from './request/write-queue.ts'
import type { Asked, Event, Payload } from './payload/parts.ts'
import { readPayload } from './payload/payload.ts'

/** What the receiver must know of a GatewaySync. */
export type ReceiverTarget = {
  /** `spec.git.ref` as it stands. */
  specRef: string
  /** The ref that is followed now: the spec's, or the one of an open request. */
  wantedRef: string
  allowedRefs: readonly string[] | undefined
  /** How many more requests could be waited for, beside those without an outcome; undefined: any number. */
  room?: number
}

/**
 * `RefNotAllowed`: a proved call asks for what `allowedRefs` does not permit. `Unproved`: nobody asks this call for a proof. `AuthNotReady`: a
 * call was refused while a configured key cannot be had.
 */
export type ReceiverNotice = 'RefNotAllowed' | 'Unproved' | 'AuthNotReady'

export type ReceiverDeps = {
  /** Undefined: there is no such GatewaySync. Throws ApiUnavailable while that cannot be known. */
  lookup(namespace: string, name: string): ReceiverTarget | undefined
  /** The keys for a GatewaySync; for one that does not exist, those of the installation. */
  keys(namespace: string, name: string): Promise<Keys>
  /**
   * Writes all annotations at once, and carries on the requests without an outcome that they make void: those of the object and
   * `overtaken`. Throws NotFound, ApiUnavailable.
   */
  request(namespace: string, name: string, annotations: Record<string, string>, overtaken: Turn['overtakes']): Promise<void>
  /** Tells whoever looks after the GatewaySync, once for many. */
  notify?(namespace: string, name: string, notice: ReceiverNotice): void
  /** `source`: what kind of event it was, where that is known. */
  observe(outcome: ReceiverOutcome, source?: Event): void
  /** Whose X-Forwarded-For is believed: addresses or `address/prefix`. */
  trustedProxies?: readonly string[]
  limits?: Partial<LimitSettings>
  /** Of the writes to one GatewaySync. */
  budget?: Budget
  clock: Clock
  log: Log
}

/**
 * A refusal takes so long, whatever was looked up for it: the time must not tell that there is such a GatewaySync with a Secret of its own,
 * which is read when it is not known yet.
 */
const refusedAfterMs = 200

/** Throws InvalidConfiguration when a trusted proxy is no address. */
export function receiverApp(deps: ReceiverDeps): Hono {
  const app = new Hono()
  const lines = createLines({
    clock: deps.clock,
    budget: deps.budget,
    room: (resource) => roomOf(deps, resource),
  })
  const receiver = { ...deps, deliveries: createDeliveries(), lines, bodies: createBodyBudget() }
  const limits = createLimits({ ...defaultLimits, ...deps.limits })
  const peers = createPeers(deps.trustedProxies ?? [])
  const callerOf = (context: Context): string => peers.of(remoteOf(context), context.req.header('x-forwarded-for'))
  /** Counts a call that proved nothing; over its limit a peer is told that and no more. */
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
    if (answer.status === 401) await outlast(deps.clock, startedMs, context.req.raw.signal)
    return await countFailure(context, peer, answer)
  })
  app.all('/webhook/:namespace/:name', async (context) => {
    context.header('allow', 'POST')
    return await refuseUnread(context, problem(context, 'MethodNotAllowed', 'this route takes POST'))
  })
  app.notFound(async (context) => await refuseUnread(context, noSuchRoute(context)))
  return app
}

function noSuchRoute(context: Context): Response {
  return problem(context, 'NotFound', 'there is only POST /webhook/{namespace}/{name}')
}

/** Whether the path stands in the call as it is routed: what is in front of a receiver judges it as it stands there. */
function isPlainPath(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as { incoming?: { url?: string } }
  return incoming?.url === undefined || incoming.url.split('?')[0] === new URL(context.req.url).pathname
}

/** Ends early with a caller that left: nobody hears the answer then. */
async function outlast(clock: Clock, startedMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = refusedAfterMs - (clock.monotonicMs() - startedMs)
  if (leftMs > 0) await clock.wait(leftMs, signal).catch(() => undefined)
}

/** Never throws: what cannot be known holds nobody up. */
function roomOf({ lookup }: ReceiverDeps, resource: string): number {
  const [namespace = '', name = ''] = resource.split('/')
  try {
    return lookup(namespace, name)?.room ?? Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** What an app keeps between calls. */
type Receiver = ReceiverDeps & { deliveries: Deliveries; lines: Lines; bodies: BodyBudget }

/** An answer, and whether its call proved that it may ask. */
type Answered = { answer: Response; proved: boolean }

async function receive(receiver: Receiver, context: Context<object, '/:namespace/:name'>, peer: string): Promise<Answered> {
  const { namespace, name } = context.req.param()
  const { bodies, ...deps } = receiver
  const keys = await deps.keys(namespace, name)
  const body = { bytes: expectedBytes(context.req.raw, bodyLimits.maxBytes), peer }
  const read = await bodies.hold(body, () => readCall(deps, context, keys))
  if (read === undefined) return { answer: tooMany(deps, context, { kind: 'over', retryAfterSeconds: 1 }), proved: true }
  if ('answer' in read) return read
  const target = deps.lookup(namespace, name)
  // Without a key of the installation nothing is proved here, and who proves nothing must not learn what there is.
  if (target === undefined && read.method === 'open') return { answer: notAuthenticated(context), proved: false }
  if (target === undefined) throw new Fault('NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
  return { answer: await answerProved(receiver, context, read, { namespace, name, target }), proved: true }
}

async function answerProved(
  deps: Receiver,
  context: Context,
  read: Read,
  { namespace, name, target }: { namespace: string; name: string; target: ReceiverTarget },
): Promise<Response> {
  const { payload } = read
  if (payload.kind === 'ping') return ignored(deps, context, 'Ping')
  if (payload.kind === 'ignored') return ignored(deps, context, payload.reason)
  const asked = choose(payload, target)
  if ('why' in asked) {
    if (asked.why === 'RefNotAllowed') deps.notify?.(namespace, name, 'RefNotAllowed')
    return ignored(deps, context, asked.why, payload.event)
  }
  const { ref, event } = asked
  const { requestId, duplicate } = await ask(deps, context, { namespace, name, ref, event, specRef: target.specRef })
  if (read.method === 'open') deps.notify?.(namespace, name, 'Unproved')
  deps.observe(duplicate ? 'duplicate' : 'accepted', event)
  deps.log.info({ namespace, name, ref, requestId }, duplicate ? 'push repeated' : 'push accepted')
  return context.json({ accepted: true, ...(duplicate ? { duplicate } : {}), ref, requestId, source: event }, 202)
}

/** Writes the request of a call, or finds the one that it shares. */
async function ask(
  { deliveries, lines, request, clock }: Receiver,
  context: Context,
  { namespace, name, ref, event, specRef }: { namespace: string; name: string; specRef: string } & Asked,
): Promise<{ requestId: string; duplicate: boolean }> {
  const write = async ({ id, overtakes }: Turn): Promise<void> => {
    const annotations = {
      [requestAnnotations.ref]: ref,
      [requestAnnotations.at]: timestamp(clock.now()),
      [requestAnnotations.by]: event,
      [requestAnnotations.id]: id,
      [requestAnnotations.specRef]: specRef,
    }
    await request(namespace, name, annotations, overtakes)
  }
  const subject = JSON.stringify([namespace, name, ref])
  return await deliveries.once(subject, deliveryId(context.req.header()), () => lines.join(`${namespace}/${name}`, ref, write))
}

/** The payload of a call that proves itself, or the answer to every other. The body is proved, and judged for size, while it comes. */
async function readCall(deps: ReceiverDeps, context: Context<object, '/:namespace/:name'>, keys: Keys): Promise<Read | Answered> {
  const headers = context.req.header()
  const proving = beginProving(headers, keys)
  const media = mediaOf(headers)
  const isUseless = media === 'json' ? createScan(bodyLimits.complexity) : () => media === 'other'
  const body = await readBody(context.req.raw, bodyLimits.maxBytes, (piece) => {
    proving.update(piece)
    return !isUseless(piece)
  })
  if (body.kind === 'tooLarge') return { answer: tooLarge(context), proved: false }
  if (body.kind === 'cutOff') return { answer: cutOff(context), proved: false }
  try {
    const proof = proving.end(deps.clock.now())
    if (proof.kind === 'refused') {
      const { namespace, name } = context.req.param()
      if (keys.fault !== undefined) deps.notify?.(namespace, name, 'AuthNotReady')
      // It may be right by the key that cannot be had. Only a key of the whole installation is told of: its absence says nothing of what there is.
      if (keys.installationFault === undefined) return { answer: notAuthenticated(context), proved: false }
      return { answer: failed(deps, context, keys.installationFault, namespace, name), proved: false }
    }
    const method = proof.kind === 'open' ? 'open' : proof.method
    const payload = understand(context, headers, media, body)
    if (!(payload instanceof Response)) return { payload, method }
    if (method !== 'open') deps.observe('malformed')
    return { answer: payload, proved: method !== 'open' }
  } finally {
    if (body.kind === 'whole') discard(body.bytes)
  }
}

type Media = 'json' | 'form' | 'other'

/** GitHub can send a form, whose field `payload` is the JSON. */
function mediaOf(headers: Record<string, string>): Media {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') return 'form'
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'other'
}

function tooComplex(context: Context): Response {
  return problem(context, 'PayloadUnrecognised', 'the body is nested too deeply or has too many keys or entries')
}

function notAuthenticated(context: Context): Response {
  return problem(context, 'NotAuthenticated', 'neither a signature nor a token of this call is valid for a GatewaySync of that name')
}

/** A call that may ask, by which method it proved that, and what it asks for. */
type Read = { payload: Understood; method: 'hmac' | 'token' | 'open' }

type Understood = Extract<Payload, { kind: 'ref' | 'ping' | 'ignored' }>

/** The payload, or the answer to one that nobody could act on. */
function understand(
  context: Context,
  headers: Record<string, string>,
  media: Media,
  body: Extract<Body, { kind: 'whole' | 'dropped' }>,
): Understood | Response {
  if (media === 'other') return problem(context, 'UnsupportedMediaType', 'the content type must be application/json')
  if (body.kind === 'dropped') return tooComplex(context)
  const bytes = media === 'form' ? payloadOf(body.bytes) : body.bytes
  const parsed = bytes === undefined ? notOnlyPayload : parseBody(bytes, bodyLimits.complexity)
  if (parsed.kind === 'malformed') return problem(context, 'PayloadMalformed', parsed.why)
  if (parsed.kind === 'tooComplex') return tooComplex(context)
  const payload = readPayload(headers, parsed.value)
  if (payload.kind === 'invalidRef') return problem(context, 'InvalidRef', 'the ref is not a name that git accepts')
  if (payload.kind === 'unrecognised') return problem(context, 'PayloadUnrecognised', 'no known payload format matches the body')
  return payload
}

const notOnlyPayload = { kind: 'malformed', why: 'a form must consist of the field payload alone' } as const

/**
 * The field `payload` of a form that holds nothing else. A content type is not signed: JSON that was signed and holds `&payload=` in some
 * text must not become another call when it is sent again as a form.
 */
function payloadOf(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (!text.startsWith('payload=') || text.includes('&')) return undefined
  return Buffer.from(new URLSearchParams(text).get('payload') ?? '')
}

/** Of all that one delivery moved: the wanted ref, else the first that may be asked for, else why the first may not. */
function choose({ others = [], ...first }: Asked & { others?: readonly Asked[] }, target: ReceiverTarget): Asked | { why: IgnoredReason } {
  const all = [first, ...others]
  const wanted = all.find(({ ref }) => ref === shortRef(target.wantedRef))
  const may = wanted ?? all.find((asked) => whyNot(asked, target) === undefined)
  return may ?? { why: whyNot(first, target) ?? 'OtherBranch' }
}

/** Why a ref is not asked for; design section 3, "Wanted ref". */
function whyNot({ ref, event }: Asked, { wantedRef, allowedRefs }: ReceiverTarget): IgnoredReason | undefined {
  const isWanted = shortRef(wantedRef) === ref
  if (event === 'push') return isWanted ? undefined : 'OtherBranch'
  if (isWanted) return undefined
  if (event === 'tag-push' && allowedRefs === undefined) return 'OtherTag'
  return isRefAllowed(ref, allowedRefs) ? undefined : 'RefNotAllowed'
}
