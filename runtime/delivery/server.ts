/**
 * Content for agents: two routes over TLS, each for a pod that follows the GatewaySync of the path, each only for commits that are or
 * were published for it. Both stream with back pressure.
 */
import { type Context, Hono } from 'hono'
import { stream } from 'hono/streaming'
import * as v from 'valibot'
import { asFault, Fault, isAbort, type Reason } from '../fault.ts'
import type { Log } from '../log.ts'
import { blobsBody, changesBody, encodeChanges, encodeEnd, encodeFrame, encodeProblem, endFrame } from './frames.ts'
import type { BlobSink, Source } from './protocol.ts'

/** What of a GatewaySync may be delivered. */
export type Deliverable = { commits: ReadonlySet<string>; source: Source; hasProfile(name: string): boolean }

export type Authorisation = { kind: 'allowed' } | { kind: 'refused'; status: 401 | 403 | 404; message: string }

export type DeliveryDeps = {
  /** Throws ApiUnavailable. */
  authorise(caller: { namespace: string; name: string; token: string }, signal: AbortSignal): Promise<Authorisation>
  lookup(namespace: string, name: string): Deliverable | undefined
  log: Log
}

/** Each stream holds a git child process and some blobs. */
const maxStreams = 32
/** 25,000 ids of 64 digits. */
const maxBodyBytes = 2 * 1024 * 1024
/** What may wait for a slow reader before git is made to wait too. */
const highWaterBytes = 1024 * 1024

export function deliveryApp(deps: DeliveryDeps): Hono {
  const app = new Hono()
  let streams = 0
  const limited =
    (handle: (context: Context, deliverable: Deliverable, body: unknown) => Response | Promise<Response>) => async (context: Context) => {
      const { namespace = '', name = '' } = context.req.param() as Record<string, string>
      try {
        const token = /^Bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? ''
        const authorisation = await deps.authorise({ namespace, name, token }, context.req.raw.signal)
        if (authorisation.kind === 'refused') return problem(context, authorisation.status, 'DeliveryUnauthorised', authorisation.message)
        const body = await readJson(context.req.raw)
        const deliverable = deps.lookup(namespace, name)
        if (deliverable === undefined)
          return problem(context, 404, 'NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
        if (streams >= maxStreams) {
          context.header('retry-after', '2')
          return problem(context, 429, 'TooManyRequests', 'too many agents are being served; try again')
        }
        streams += 1
        try {
          return onEnd(await handle(context, deliverable, body), () => (streams -= 1))
        } catch (error) {
          // A refusal has no stream whose end would give its place back.
          streams -= 1
          throw error
        }
      } catch (error) {
        return failed(context, error)
      }
    }

  app.post(
    '/v1/namespaces/:namespace/gatewaysyncs/:name/changes',
    limited(async (context, deliverable, body) => {
      const { commit, from, profile } = parsed(changesBody, body)
      requirePublished(deliverable, commit, profile)
      const signal = context.req.raw.signal
      const batches = deliverable.source.changes({ commit, from, profile }, signal)[Symbol.asyncIterator]()
      // The first batch tells whether there is an answer at all; from then on only the missing end can say that something went wrong.
      const first = await batches.next()
      context.header('content-type', 'application/x-ndjson')
      return stream(
        context,
        async (out) => {
          let entries = 0
          for (let next = first; next.done !== true; next = await batches.next()) {
            entries += next.value.length
            await out.write(encodeChanges(next.value))
          }
          await out.write(encodeEnd(entries))
        },
        async (error) => cutOff(deps, error),
      )
    }),
  )
  app.post(
    '/v1/namespaces/:namespace/gatewaysyncs/:name/blobs',
    limited(async (context, deliverable, body) => {
      const { commit, profile, ids } = parsed(blobsBody, body)
      requirePublished(deliverable, commit, profile)
      const left = new AbortController()
      const signal = AbortSignal.any([context.req.raw.signal, left.signal])
      const { body: answer, started } = blobStream(deps, deliverable.source, { commit, profile, ids }, signal, () =>
        left.abort(new Error('the reader has left')),
      )
      // A refusal has a status of its own as long as nothing has been sent.
      await started
      return new Response(answer, { headers: { 'content-type': 'application/octet-stream' } })
    }),
  )
  app.notFound((context) => problem(context, 404, 'NotFound', 'there is no such route'))
  return app
}

function requirePublished({ commits, hasProfile }: Deliverable, commit: string, profile: string): void {
  if (!commits.has(commit)) throw new Fault('CommitNotPublished', `commit ${commit} is not and was not published for this GatewaySync`)
  if (!hasProfile(profile)) throw new Fault('UnknownProfile', `the GatewaySync has no profile "${profile}"`)
}

/** Blobs as a stream that is written only as fast as it is read: the source is held up while more than a megabyte waits. */
function blobStream(
  deps: DeliveryDeps,
  source: Source,
  request: Parameters<Source['blobs']>[0],
  signal: AbortSignal,
  cancel: () => void,
): { body: ReadableStream<Uint8Array>; started: Promise<void> } {
  let wake: (() => void) | undefined
  const { promise: started, resolve: start, reject: refuse } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const sink = framingSink((chunk) => controller.enqueue(chunk))
        const flow: BlobSink = {
          ...sink,
          begin(id, size) {
            start()
            sink.begin(id, size)
          },
          drained: async () => {
            while ((controller.desiredSize ?? 0) <= 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
          },
        }
        source.blobs(request, flow, signal).then(
          () => {
            start()
            sink.flush()
            controller.enqueue(Buffer.from(endFrame))
            controller.close()
          },
          (error: unknown) => {
            refuse(error)
            if (!isAbort(error, signal)) cutOff(deps, error)
            controller.error(error)
          },
        )
      },
      pull() {
        wake?.()
      },
      cancel() {
        cancel()
        wake?.()
      },
    },
    { highWaterMark: highWaterBytes, size: (chunk) => chunk.byteLength },
  )
  return { body, started }
}

/** An answer without its last line or frame says to the agent that nothing of it counts. */
function cutOff({ log }: DeliveryDeps, error: unknown): void {
  const { reason, message } = asFault(error)
  log.warn({ reason, message }, 'a delivery ended early')
}

/** Gathers small blobs, so that 20,000 of them are not 40,000 writes. */
function framingSink(write: (chunk: Uint8Array) => void): BlobSink & { flush(): void } {
  let parts: Uint8Array[] = []
  let size = 0
  const add = (part: Uint8Array): void => {
    parts.push(part)
    size += part.byteLength
    if (size >= 64 * 1024) flush()
  }
  const flush = (): void => {
    if (size === 0) return
    write(Buffer.concat(parts))
    parts = []
    size = 0
  }
  return {
    begin: (id, bytes) => add(Buffer.from(encodeFrame(id, bytes))),
    // A chunk is valid only during its call.
    data: (chunk) => add(Uint8Array.prototype.slice.call(chunk)),
    end() {},
    flush,
  }
}

function onEnd(response: Response, ended: () => void): Response {
  if (response.body === null) {
    ended()
    return response
  }
  let told = false
  const once = (): void => {
    if (!told) ended()
    told = true
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        once()
        controller.close()
      } catch (error) {
        once()
        controller.error(error)
      }
    },
    async cancel(reason) {
      once()
      await reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

async function readJson(request: Request): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBodyBytes) throw new Fault('PayloadTooLarge', `the body is larger than ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (error) {
    throw new Fault('PayloadMalformed', 'the body is not JSON', { cause: error })
  }
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

function failed(context: Context, error: unknown): Response {
  const fault = asFault(error)
  const status = statusByReason.get(fault.reason)
  if (status !== undefined) return problem(context, status, fault.reason, fault.message)
  context.header('retry-after', '5')
  return problem(context, 503, fault.reason, fault.message)
}

function problem(context: Context, status: 400 | 401 | 403 | 404 | 409 | 410 | 413 | 429 | 503, reason: Reason, detail: string): Response {
  return context.body(encodeProblem(status, reason, detail), status, { 'content-type': 'application/problem+json' })
}
