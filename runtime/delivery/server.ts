/**
 * Content for agents: two routes over TLS, each for a pod that follows the GatewaySync of the path, each only for commits that are or
 * were published for it. Both stream with back pressure.
 */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { asFault, Fault, isAbort, type Reason } from '../fault.ts'
import { type BodyLimits, type JsonBody, readJson } from '../http/body.ts'
import { type BodyBudget, createBodyBudget } from '../http/body-budget.ts'
import type { Log } from '../log.ts'
import { blobsBody, changesBody, encodeChanges, encodeEnd, encodeLastFrame, encodeProblem, maxIdsPerRequest } from './frames.ts'
import type { Change, Origin } from './protocol.ts'

/** What of a GatewaySync may be delivered. */
export type Deliverable = { commits: ReadonlySet<string>; source: Origin; hasProfile(name: string): boolean }

export type Authorisation = { kind: 'allowed' } | { kind: 'refused'; status: 401 | 403 | 404; message: string }

export type DeliveryDeps = {
  /** Throws ApiUnavailable. */
  authorise(caller: { namespace: string; name: string; token: string }, signal: AbortSignal): Promise<Authorisation>
  lookup(namespace: string, name: string): Deliverable | undefined
  /** Each call, when its answer is out; `bytes` of content. */
  observe(route: DeliveryRoute, status: number, bytes: number): void
  log: Log
}

type DeliveryRoute = 'changes' | 'blobs'

/** Each stream holds a git child process and some blobs. */
const maxStreams = 32
/** Ids of 64 digits: nothing else in a request is long, and nothing in it is nested. */
const bodyLimits = {
  maxBytes: 2 * 1024 * 1024,
  complexity: { depth: 2, keys: 8, containers: 2, entries: maxIdsPerRequest + 8 },
} as const satisfies BodyLimits
/** What may wait for a slow reader before git is made to wait too. */
const highWaterBytes = 256 * 1024

/** An agent has two. One that finds no room is closed before it has asked, and its agent comes back. */
export const deliveryConnections = { maxConnections: 512, readAheadBytes: 16 * 1024 } as const

/** An answer that has begun: the first chunk is there. */
type Answer = { type: string; chunks: AsyncGenerator<Uint8Array> }

export function deliveryApp(deps: DeliveryDeps): Hono {
  const app = new Hono()
  const bodies = createBodyBudget()
  let streams = 0
  /** Counts a stream from its first chunk to its end, whichever way it ends. */
  const counted = async function* (path: DeliveryRoute, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    streams += 1
    let bytes = 0
    try {
      for await (const chunk of chunks) {
        bytes += chunk.byteLength
        yield chunk
      }
    } finally {
      streams -= 1
      // Before the first chunk it is a refusal, with a status of its own.
      if (bytes > 0) deps.observe(path, 200, bytes)
    }
  }
  const route = (path: DeliveryRoute, open: (origin: Deliverable, body: unknown, signal: AbortSignal) => Answer): void => {
    const handle = async (context: Context<object, '/:namespace/:name'>): Promise<Response> => {
      const { namespace, name } = context.req.param()
      const left = new AbortController()
      const signal = AbortSignal.any([context.req.raw.signal, left.signal])
      try {
        const token = /^Bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? ''
        const authorisation = await deps.authorise({ namespace, name, token }, signal)
        if (authorisation.kind === 'refused') return problem(context, authorisation.status, 'DeliveryUnauthorised', authorisation.message)
        const body = await readRequest(context.req.raw, bodies, namespace)
        const deliverable = deps.lookup(namespace, name)
        if (deliverable === undefined)
          return problem(context, 404, 'NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
        if (streams >= maxStreams) {
          context.header('retry-after', '1')
          return problem(context, 429, 'TooManyRequests', 'too many agents are being served; try again')
        }
        const { type, chunks } = open(deliverable, body, signal)
        return new Response(await streamed(counted(path, chunks), left, deps.log), { headers: { 'content-type': type } })
      } catch (error) {
        const fault = asFault(error)
        if (fault.reason === 'Unexpected' && !signal.aborted) deps.log.error({ namespace, name, err: error }, 'a delivery met a bug')
        return failed(context, fault)
      }
    }
    app.post(`/v1/namespaces/:namespace/gatewaysyncs/:name/${path}`, async (context) => {
      const response = await handle(context)
      if (response.status !== 200) deps.observe(path, response.status, 0)
      return response
    })
  }

  route('changes', ({ source, ...deliverable }, body, signal) => {
    const { commit, from, profile } = parsed(changesBody, body)
    requirePublished(deliverable, commit, profile)
    return { type: 'application/x-ndjson', chunks: lines(source.changes({ commit, from, profile }, signal)) }
  })
  route('blobs', ({ source, ...deliverable }, body, signal) => {
    const { commit, profile, ids } = parsed(blobsBody, body)
    requirePublished(deliverable, commit, profile)
    return { type: 'application/octet-stream', chunks: frames(source.frames({ commit, profile, ids }, signal)) }
  })
  app.notFound((context) => problem(context, 404, 'NotFound', 'there is no such route'))
  return app
}

async function* lines(batches: AsyncIterable<readonly Change[]>): AsyncGenerator<Uint8Array> {
  let entries = 0
  for await (const batch of batches) {
    entries += batch.length
    yield Buffer.from(encodeChanges(batch))
  }
  yield Buffer.from(encodeEnd(entries))
}

async function* frames(blobs: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* blobs
  yield encodeLastFrame()
}

/**
 * Chunks as a body that is made only as fast as it is read. The first chunk is waited for: until then a refusal still has a status of its
 * own, and from then on only the missing end says that something went wrong.
 */
async function streamed(chunks: AsyncGenerator<Uint8Array>, left: AbortController, log: Log): Promise<ReadableStream<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | undefined = await chunks.next()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = first ?? (await chunks.next())
          first = undefined
          if (next.done === true) controller.close()
          else controller.enqueue(next.value)
        } catch (error) {
          // The connection lives on; the missing end alone says that nothing of the answer counts.
          if (!isAbort(error, left.signal)) cutOff(log, error)
          controller.close()
        }
      },
      async cancel() {
        left.abort(new Error('the reader has left'))
        await chunks.return(undefined)
      },
    },
    { highWaterMark: highWaterBytes, size: ({ byteLength }) => byteLength },
  )
}

function cutOff(log: Log, error: unknown): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, 'a delivery ended early')
}

function requirePublished({ commits, hasProfile }: Omit<Deliverable, 'source'>, commit: string, profile: string): void {
  if (!commits.has(commit)) throw new Fault('CommitNotPublished', `commit ${commit} is not and was not published for this GatewaySync`)
  if (!hasProfile(profile)) throw new Fault('UnknownProfile', `the GatewaySync has no profile "${profile}"`)
}

async function readRequest(request: Request, bodies: BodyBudget, namespace: string): Promise<unknown> {
  const body = await readJson(request, bodyLimits, bodies, namespace)
  if (body.kind === 'json') return body.value
  const [reason, message] = unreadable[body.kind]
  throw new Fault(reason, message)
}

/** What a body that holds no request is answered. */
const unreadable: Record<Exclude<JsonBody['kind'], 'json'>, readonly [Reason, string]> = {
  malformed: ['PayloadMalformed', 'the body is not JSON in UTF-8'],
  tooComplex: ['PayloadMalformed', 'the body is no request of delivery'],
  tooLarge: ['PayloadTooLarge', `the body is larger than ${bodyLimits.maxBytes} bytes`],
  cutOff: ['PayloadMalformed', 'the body ended early'],
  busy: ['TooManyRequests', 'too many large requests are being read; try again'],
}

function parsed<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body)
  if (result.success) return result.output
  throw new Fault('PayloadMalformed', `${v.getDotPath(result.issues[0]) ?? 'body'}: ${result.issues[0].message}`)
}

const statusByReason = new Map<Reason, 400 | 404 | 409 | 410 | 413 | 429>([
  ['PayloadMalformed', 400],
  ['PayloadTooLarge', 413],
  ['CommitNotPublished', 404],
  ['UnknownProfile', 404],
  ['UnknownBase', 409],
  ['CommitGone', 410],
  ['TooManyRequests', 429],
])

function failed(context: Context, fault: Fault): Response {
  const status = statusByReason.get(fault.reason)
  if (status !== undefined) return problem(context, status, fault.reason, fault.message)
  context.header('retry-after', '5')
  return problem(context, 503, fault.reason, fault.message)
}

function problem(context: Context, status: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 429 | 503, reason: Reason, detail: string): Response {
  return context.body(encodeProblem(status, reason, detail), status, { 'content-type': 'application/problem+json' })
}
