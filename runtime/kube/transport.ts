/**
 * Requests to the API server over a connection pool of our own, with the credentials of a kubeconfig or of the pod. Both are read anew
 * when they change, because a pod's token is replaced every hour.
 */
import type { KubeConfig } from '@kubernetes/client-node'
import { Agent, fetch } from 'undici'
import { type Clock, deadline } from '../clock.ts'
import { Fault } from '../fault.ts'

export type Transport = {
  /** Throws ApiUnavailable when there is no answer, AnswerTooLarge when its body is beyond the bound. */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>
  close(): Promise<void>
}

/** `retryAfterMs`: when the server wants to be asked again, where it says so in seconds. */
export type TransportAnswer = { status: number; text: string; retryAfterMs: number | undefined }

/** `maxAnswerBytes`: less than what any answer may have. */
export type TransportRequest = { method: string; path: string; body?: string; contentType?: string; maxAnswerBytes?: number }

/** Whoever asks for less gets an answer. */
export class AnswerTooLarge extends Fault {
  constructor(what: string, maxBytes: number) {
    super('ApiUnavailable', `${what}: the answer is larger than ${maxBytes} bytes`)
  }
}

const timeoutMs = 30_000
/** etcd takes 1.5 MiB for an object, which a pod as JSON may exceed several times. */
const maxAnswerBytes = 32 * 1024 * 1024
/** client-node itself reads a token file again after a minute. */
const credentialsForMs = 30_000

type Credentials = { agent: Agent; authorization: string | undefined; text: string; untilMs: number }

/** `connections`: to the API server, at most. */
export type TransportOptions = { clock: Clock; userAgent: string; connections?: number }

export function createTransport(config: KubeConfig, { clock, userAgent, connections = 32 }: TransportOptions): Transport {
  const server = config.getCurrentCluster()?.server
  if (server === undefined) throw new Fault('InvalidConfiguration', 'the kubeconfig names no cluster')
  let known: Credentials | undefined

  const credentials = async (): Promise<Credentials> => {
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known
    const options: { headers?: Record<string, string>; ca?: unknown; cert?: unknown; key?: unknown; rejectUnauthorized?: boolean } = {}
    await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0])
    const { ca, cert, key, rejectUnauthorized, headers } = options
    const connect = { ca, cert, key, rejectUnauthorized } as ConstructorParameters<typeof Agent>[0] extends { connect?: infer C }
      ? C
      : never
    const text = JSON.stringify([ca, cert, key, rejectUnauthorized], (_name, value: unknown) =>
      Buffer.isBuffer(value) ? value.toString('base64') : value,
    )
    const same = known?.text === text ? known.agent : undefined
    const agent = same ?? new Agent({ connect, keepAliveTimeout: 30_000, connections, maxHeaderSize: 64 * 1024 })
    if (same === undefined) void known?.agent.close()
    known = { agent, authorization: headers?.['Authorization'], text, untilMs: clock.monotonicMs() + credentialsForMs }
    return known
  }

  return {
    async send({ method, path, body, contentType, maxAnswerBytes: maxBytes = maxAnswerBytes }, signal) {
      const stop = deadline(timeoutMs, signal)
      try {
        const { agent, authorization } = await credentials()
        const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent }
        if (authorization !== undefined) headers['authorization'] = authorization
        if (body !== undefined) headers['content-type'] = contentType ?? 'application/json'
        const response = await fetch(server.replace(/\/+$/, '') + path, {
          method,
          headers,
          dispatcher: agent,
          signal: stop,
          redirect: 'error',
          ...(body === undefined ? {} : { body }),
        })
        const text = await readText(response.body as AsyncIterable<Uint8Array> | null, maxBytes, `${method} ${path}`)
        return { status: response.status, text, retryAfterMs: secondsToMs(response.headers.get('retry-after')) }
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof Fault) throw error
        const why = stop.aborted ? `no answer within ${timeoutMs / 1000} s` : causeOf(error)
        throw new Fault('ApiUnavailable', `${method} ${path}: ${why}`, { cause: error })
      }
    },
    async close() {
      await known?.agent.close()
    },
  }
}

function secondsToMs(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : undefined
}

async function readText(body: AsyncIterable<Uint8Array> | null, maxBytes: number, what: string): Promise<string> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new AnswerTooLarge(what, maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** undici wraps what happened: the word is in the cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause: unknown = error.cause
  if (cause instanceof Error) return 'code' in cause && typeof cause.code === 'string' ? `${cause.code} ${cause.message}` : cause.message
  return error.message
}
