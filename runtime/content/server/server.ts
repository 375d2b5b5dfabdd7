/**
 * Serves content over TLS to pods that follow the GatewaySync in the path. Three routes stream the contents of published commits, with back
 * pressure; one returns how the agent may call its gateway, one receives capture offers.
 */
import { type Context, Hono } from 'hono'
import { createHash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { type BodyLimits, createBodyBudget } from '../../http/body.ts'
import { peerOf, remoteOf } from '../../http/client-address.ts'
import type { CommitHash } from '../../api/values.ts'
import type { Log } from '../../platform/log/log.ts'
import { encodeLastFrame } from '../protocol/content-frames.ts'
import { blobsBody, captureBody, changesBody, encodeChanges, encodeEnd, filesBody, maxIdsPerRequest } from '../protocol/frames.ts'
import { AnswerSlots, type SlotLimits } from './answer-slots.ts'
import { type ForwardToLeader, forwardedHeader, type AuthorizedCall, offerLimits, receiveOffer } from './forward.ts'
import {
  type CaptureAnswer,
  type CaptureOffer,
  type Change,
  type DeliveryRoute,
  type FramedSource,
  type GatewayAccess,
} from '../protocol/protocol.ts'
import { busy, failed, problem, readRequest, commitOf, parsed } from './requests.ts'
import { lookupPublished, requirePublished } from './published.ts'
import { type Make, SharedAnswers, createBatchWindow } from './shared-answer.ts'
import { streamed, outgoingOf, whenSent } from './stream.ts'
/** The deliverable content of one GatewaySync. `commits`: those that are or were published. */
export type Deliverable = {
  commits: ReadonlySet<string>
  source: FramedSource
  hasProfile(name: string): boolean
  /** Changes with the object and its spec, so that answers made before a change are not shared with later calls. */
  revision: string
  /**
   * Handles a capture offer; `pod` is the pod's name. Checks whether its commit and profile are permitted. Undefined: this replica does not
   * lead. Throws PayloadMalformed for changes of a pod that follows another profile.
   */
  capture(pod: string, offer: CaptureOffer): CaptureAnswer | undefined
  /** Returns the gateway access for agents. Throws SecretNotFound, ApiUnavailable, Forbidden. */
  access(signal: AbortSignal): Promise<GatewayAccess>
}

/** The caller and the requested GatewaySync. `token` may be empty; `peer` is the client address. */
export type Caller = { namespace: string; name: string; token: string; peer: string }

/** The authorization result. `message` is part of the response. */
export type Authorization =
  /** `pod`: `namespace/name`. */
  | { kind: 'allowed'; pod: string }
  | { kind: 'refused'; status: 401 | 403 | 404; message: string }
  /** Too many TokenReviews are in progress. */
  | { kind: 'busy'; retryAfterSeconds: number }

/** Collaborators of the app; the controller builds them. */
export type DeliveryDeps = {
  /** Throws ApiUnavailable. */
  authorize(caller: Caller, signal: AbortSignal): Promise<Authorization>
  /** Undefined: this replica has no such GatewaySync. */
  lookup(namespace: string, name: string): Deliverable | undefined
  /** The leading replica, for content that this one lacks; undefined when this one leads or the leader is unknown. */
  leader?(): ForwardToLeader | undefined
  /** Called for each call when its answer is sent; `bytes` counts content. */
  observe(route: DeliveryRoute, status: number, bytes: number): void
  clock: Clock
  log: Log
  slots?: SlotLimits
  /** How long a reader may read nothing before its connection is closed. */
  slowAfterMs?: number
  /** Called with the number of running answers when one begins or ends. */
  streaming?: (count: number) => void
  /** How long to wait for a commit that is not known to be published yet. */
  lateMs?: number
}

/** Ids have up to 64 digits; nothing else in a request is long, and nothing in it is nested. */
const bodyLimits = {
  maxBytes: 2 * 1024 * 1024,
  complexity: { depth: 2, keys: 8, containers: 2, entries: maxIdsPerRequest + 8 },
} as const satisfies BodyLimits

/**
 * A TLS connection takes 72 KiB, most of it in OpenSSL, and the process keeps that memory after many have ended: 500 would be a quarter of
 * the container. A connection beyond the limit is closed unread, and its agent retries. An idle one is closed soon, because an agent calls
 * twice for a commit and then not for a while.
 */
export const deliveryConnections = { maxConnections: 128, readAheadBytes: 16 * 1024, keptAliveMs: 5_000 } as const

/** How to make an answer, its commits, and the validated request. */
type Content = { type: string; commit: CommitHash; from: CommitHash | null; body: object; make: Make }
/** An answer for a single caller that is never shared or cached. */
type Secret = { secret: GatewayAccess | CaptureAnswer }

/** `open` checks a validated request and returns its answer. */
type Route = {
  path: DeliveryRoute
  limits?: BodyLimits
  open(origin: Deliverable, body: unknown, signal: AbortSignal, call: AuthorizedCall): Content | Promise<Secret>
}

/** The app of the content port. Every call is authorized by the caller's token before anything else. */
export function deliveryApp(deps: DeliveryDeps): Hono {
  const app = new Hono()
  const calls = new ContentCalls(deps)
  for (const route of [...contentRoutes, ...secretRoutes(deps)]) {
    app.post(`/v1/namespaces/:namespace/gatewaysyncs/:name/${route.path}`, async (context) => {
      const response = await calls.handle(context, route)
      if (response.status !== 200) deps.observe(route.path, response.status, 0)
      return response
    })
  }
  app.notFound((context) => problem(context, 404, 'NotFound', 'no such route'))
  return app
}

const contentRoutes: readonly Route[] = [
  {
    path: 'changes',
    open({ source, ...deliverable }, body) {
      const { commit, from, profile, most } = parsed(changesBody, body)
      requirePublished(deliverable, commit, profile)
      // A difference would reveal paths of a commit that was never published for this GatewaySync.
      if (from !== null && !deliverable.commits.has(from))
        throw new Fault('UnknownBase', `commit ${from} was not published for this GatewaySync; request all files`)
      const request = { commit, from, profile, ...(most === undefined ? {} : { most }) }
      const make: Make = (signal) => lines(source.changes(request, signal))
      return { type: 'application/x-ndjson', commit, from, body: request, make }
    },
  },
  {
    path: 'blobs',
    open({ source, ...deliverable }, body) {
      const { commit, profile, ids } = parsed(blobsBody, body)
      requirePublished(deliverable, commit, profile)
      const make: Make = (signal) => frames(source.frames({ commit, profile, ids }, signal))
      return { type: 'application/octet-stream', commit, from: null, body: { commit, profile, ids }, make }
    },
  },
  {
    path: 'files',
    open({ source, ...deliverable }, body) {
      const { commit, profile } = parsed(filesBody, body)
      requirePublished(deliverable, commit, profile)
      const make: Make = (signal) => frames(source.fileFrames({ commit, profile }, signal))
      return { type: 'application/octet-stream', commit, from: null, body: { commit, profile }, make }
    },
  },
]

function secretRoutes({ leader }: DeliveryDeps): readonly Route[] {
  return [
    { path: 'gateway', open: async ({ access }, _body, signal) => ({ secret: await access(signal) }) },
    {
      path: 'capture',
      limits: offerLimits,
      open: async (deliverable, body, signal, call) => ({
        secret: await receiveOffer(leader, deliverable, parsed(captureBody, body), call, signal),
      }),
    },
  ]
}

type CallContext = Context<object, '/:namespace/:name'>
type Bearer = { pod: string; token: string }

/** Handles the calls of all routes, which share slots, answers and the memory for requests. */
class ContentCalls {
  readonly #deps: DeliveryDeps
  readonly #bodies = createBodyBudget()
  readonly #slots: AnswerSlots
  readonly #answers: SharedAnswers
  readonly #isBatched: ReturnType<typeof createBatchWindow>

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#slots = new AnswerSlots(deps.clock, deps.slots, deps.streaming)
    this.#answers = new SharedAnswers(deps.clock)
    this.#isBatched = createBatchWindow(deps.clock)
  }

  /** Authorizes the caller, waits for a slot, and answers. Never rejects. */
  async handle(context: CallContext, route: Route): Promise<Response> {
    const { namespace, name } = context.req.param()
    const left = new AbortController()
    const signal = AbortSignal.any([context.req.raw.signal, left.signal])
    let release = (): void => undefined
    try {
      const token = /^Bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? ''
      const authorization = await this.#deps.authorize({ namespace, name, token, peer: peerOf(remoteOf(context)) }, signal)
      if (authorization.kind === 'busy') return busy(context, authorization.retryAfterSeconds, 'too many tokens are being verified')
      if (authorization.kind === 'refused') return problem(context, authorization.status, 'DeliveryUnauthorized', authorization.message)
      const slot = await this.#slots.take(namespace, authorization.pod, signal)
      if (slot.kind === 'full') return busy(context, slot.retryAfterSeconds, 'too many agents are being served')
      ;({ release } = slot)
      const response = await this.#answer(context, route, { pod: authorization.pod, token }, left)
      if (response.status === 200) whenSent(context, left, release)
      else release()
      return response
    } catch (error) {
      release()
      const fault = asFault(error)
      if (fault.reason === 'Unexpected' && !signal.aborted)
        this.#deps.log.error({ namespace, name, err: error }, 'answer failed unexpectedly')
      if (fault.reason === 'TooManyRequests') return busy(context, 1, fault.message)
      return failed(context, fault)
    }
  }

  async #answer(context: CallContext, route: Route, bearer: Bearer, left: AbortController): Promise<Response> {
    const { path, limits = bodyLimits } = route
    const { namespace, name } = context.req.param()
    const body = await readRequest(context.req.raw, limits, this.#bodies, namespace)
    const deliverable = await lookupPublished(this.#deps, { namespace, name, commit: commitOf(body) }, left.signal)
    if (deliverable === undefined) return problem(context, 404, 'NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
    const isForwarded = context.req.header(forwardedHeader) !== undefined
    const call = { namespace, name, ...bearer, isForwarded }
    const opened = await route.open(deliverable, body, left.signal, call)
    if ('secret' in opened) {
      this.#deps.observe(path, 200, 0)
      return context.json(opened.secret, 200, { 'cache-control': 'no-store' })
    }
    const chunks = this.#shared(path, opened, deliverable, call)
    const stream = await streamed(counted(this.#deps, path, chunks), { left, outgoing: outgoingOf(context), ...this.#deps })
    return new Response(stream, { headers: { 'content-type': opened.type } })
  }

  /** Makes the answer here, or at the leader if commits are missing here; shares it with equal calls. */
  #shared(path: DeliveryRoute, content: Content, { source, revision }: Deliverable, call: AuthorizedCall): AsyncIterable<Uint8Array> {
    const { commit, from, body, make } = content
    const { namespace, name, pod, token, isForwarded } = call
    const leaderOf = (): ForwardToLeader | undefined => (isForwarded ? undefined : this.#deps.leader?.())
    const chosen: Make = async function* (signal) {
      const leader = leaderOf()
      if (leader === undefined || (await hasCommits(source, from === null ? [commit] : [commit, from], signal))) yield* make(signal)
      else yield* (await leader({ namespace, name, route: path, body, token }, signal)) ?? make(signal)
    }
    const subject = `${namespace}/${name} ${revision} ${commit}`
    // Forwarded calls have their own key: their responses are always created here, while others may come from the leader.
    const key = hashOf([subject, path, isForwarded, body])
    return this.#answers.read(key, chosen, { tenant: namespace, isBatched: this.#isBatched.join(namespace, subject, pod) })
  }
}

/** Reports a stream when it has ended for any reason. */
async function* counted(
  { observe }: Pick<DeliveryDeps, 'observe'>,
  path: DeliveryRoute,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.byteLength
      yield chunk
    }
  } finally {
    // Without a byte it became an error answer, which is reported with its own status.
    if (bytes > 0) observe(path, 200, bytes)
  }
}

/** Whether these commits can be read here; an error counts as no. */
async function hasCommits(source: FramedSource, commits: readonly CommitHash[], signal: AbortSignal): Promise<boolean> {
  try {
    return await source.holds(commits, signal)
  } catch {
    signal.throwIfAborted()
    return false
  }
}

/** A short key for a request that may name 25,000 blobs. */
function hashOf(key: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('base64')
}

async function* lines(batches: AsyncIterable<readonly Change[]>): AsyncGenerator<Uint8Array> {
  let entries = 0
  for await (const batch of batches) {
    entries += batch.length
    yield Buffer.from(encodeChanges(batch))
  }
  yield Buffer.from(encodeEnd(entries))
}

async function* frames(contents: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* contents
  yield encodeLastFrame()
}
