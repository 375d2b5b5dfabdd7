/**
 * Sends requests to the API server over its own connection pool, with the credentials of a kubeconfig or of the pod. They are read again
 * every 30 s, because a pod's token is replaced every hour.
 */
import type { KubeConfig } from '@kubernetes/client-node'
import * as http from 'node:http'
import * as https from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, deadline } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { type Complexity, createScan } from '../platform/text/json.ts'
import { type CallOptions, causeOf, readText, startCall } from '../http/client.ts'
import { retryAfterToMs } from '../http/headers.ts'

/** Sends requests and returns the server's status; client.ts interprets it. */
export type Transport = {
  /** Maximum size of an answer, and of an event of a watch. */
  maxAnswerBytes: number
  /** Parses an answer, or an event of a watch. Throws AnswerTooLarge when it has more values than permitted, ApiUnavailable when it is not JSON. */
  parse(text: string, what: string): unknown
  /** Throws ApiUnavailable when no answer comes within 30 s, AnswerTooLarge when its body is over the bound. */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>
  /**
   * Begins a GET of any length over its own connection, for a watch. Throws ApiUnavailable without an answer. Reading the body throws
   * network errors, and `Silence` after `idleMs` without a byte.
   */
  open(path: string, idleMs: number, signal: AbortSignal): Promise<http.IncomingMessage>
  close(): void
}

/** `retryAfterMs`: from a Retry-After header in seconds; undefined when there is none, or it holds a date. */
export type TransportAnswer = { status: number; text: string; retryAfterMs: number | undefined }

/** `body` is JSON. `maxAnswerBytes`: a smaller maximum for this answer. */
export type TransportRequest = { method: string; path: string; body?: string; contentType?: string; maxAnswerBytes?: number }

/** A separate fault, so that a list can be repeated with smaller pages. */
export class AnswerTooLarge extends Fault {
  constructor(message: string) {
    super('ApiUnavailable', message)
  }
}

/**
 * The API server did not answer: the connection failed, or it or a proxy reports that it is unavailable. Earlier state, such as the version
 * that a watch resumes from, stays valid.
 */
export class ServerUnreachable extends Fault {
  constructor(message: string, cause?: unknown) {
    super('ApiUnavailable', message, { cause })
  }
}

const timeoutMs = 30_000
/** An API server keeps idle connections for 90 s. */
const idleConnectionMs = 30_000
const maxHeaderBytes = 64 * 1024
/** etcd accepts 1.5 MiB for an object, and JSON writes some characters with six: `<` is `\u003c`. */
const defaultMaxAnswerBytes = 12 * 1024 * 1024
/** client-node itself reads a token file again after a minute. */
const credentialsForMs = 30_000

/** The options of a call that identify server and client; calls with equal ones share connections. */
type Credentials = Pick<https.RequestOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername' | 'auth'> & { headers?: Headers }
type Headers = Record<string, string>

/** With the credentials parsed by OpenSSL once for all connections: with its own context, each would use 27 KiB more. */
type TlsCredentials = Credentials & { secureContext?: SecureContext }

/**
 * `connections`: how many are open to the API server at the same time, 32 by default; further calls wait for a free one. `maxAnswerBytes`:
 * maximum size of an answer, and of an event of a watch, 12 MiB by default. `complexity`: maximum of their values, for a server that may be
 * hostile; unlimited by default.
 */
export type TransportOptions = { clock: Clock; userAgent: string; connections?: number; maxAnswerBytes?: number; complexity?: Complexity }

/** Throws InvalidConfiguration when the kubeconfig names no cluster. */
export function createTransport(config: KubeConfig, options: TransportOptions): Transport {
  const { clock, userAgent, connections = 32, maxAnswerBytes = defaultMaxAnswerBytes, complexity } = options
  const server = config.getCurrentCluster()?.server.replace(/\/+$/, '')
  if (server === undefined) throw new Fault('InvalidConfiguration', 'the kubeconfig names no cluster')
  const { Agent } = server.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: idleConnectionMs })
  const agentOfOpen = new Agent({ keepAlive: false })
  let known: { credentials: TlsCredentials; untilMs: number } | undefined
  const credentials = async (): Promise<TlsCredentials> => {
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.credentials
    const options: Credentials & { agent?: unknown } = {}
    await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0])
    // client-node adds an agent with the current CAs; this one must outlive a change of them.
    const { agent: _, ...own } = options
    known = { credentials: withContext(own, known?.credentials), untilMs: clock.monotonicMs() + credentialsForMs }
    return known.credentials
  }
  const begin = async (
    path: string,
    { headers: own = {}, ...options }: Omit<CallOptions, 'headers'> & { headers?: Headers },
    signal: AbortSignal,
  ) => {
    const { headers, ...who } = await credentials()
    const all = { ...headers, accept: 'application/json', 'user-agent': userAgent, ...own }
    return { url: server + path, options: { ...who, ...options, headers: all, maxHeaderSize: maxHeaderBytes, signal } }
  }

  return {
    maxAnswerBytes,
    parse: (text, what) => parse(text, what, complexity),
    async send({ method, path, body, contentType = 'application/json', maxAnswerBytes: ownMaxBytes = maxAnswerBytes }, signal) {
      const maxBytes = Math.min(ownMaxBytes, maxAnswerBytes)
      const stop = deadline(timeoutMs, signal)
      const what = `${method} ${path}`
      try {
        const headers = body === undefined ? {} : { 'content-type': contentType }
        const { url, options } = await begin(path, { method, agent, headers }, stop)
        const response = await startCall(url, options, body).answered
        const text = await readText(response, maxBytes)
        if (text === undefined) throw new AnswerTooLarge(`${what}: the response is larger than ${maxBytes} bytes`)
        return { status: response.statusCode ?? 0, text, retryAfterMs: retryAfterToMs(response.headers['retry-after']) }
      } catch (error) {
        throw faultOf(what, error, signal, stop.aborted ? `no answer within ${timeoutMs / 1000} s` : undefined)
      }
    },
    async open(path, idleMs, signal) {
      try {
        const { url, options } = await begin(path, { method: 'GET', agent: agentOfOpen }, signal)
        return await startCall(url, { ...options, idleMs }).answered
      } catch (error) {
        throw faultOf(`GET ${path}`, error, signal)
      }
    },
    close() {
      agent.destroy()
      agentOfOpen.destroy()
    },
  }
}

function faultOf(what: string, error: unknown, signal: AbortSignal, late?: string): Fault {
  signal.throwIfAborted()
  return error instanceof Fault ? error : new ServerUnreachable(`${what}: ${late ?? causeOf(error)}`, error)
}

function parse(text: string, what: string, complexity: Complexity | undefined): unknown {
  if (complexity !== undefined && createScan(complexity)(Buffer.from(text)))
    throw new AnswerTooLarge(`${what}: the response has too many JSON values`)
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch (error) {
    throw new Fault('ApiUnavailable', `${what}: the response is not JSON`, { cause: error })
  }
}

/** Returns `before` if the credentials are equal. */
function withContext(own: Credentials, before: TlsCredentials | undefined): TlsCredentials {
  const { secureContext: _, ...known } = before ?? {}
  return before !== undefined && isDeepStrictEqual(known, own) ? before : { ...own, secureContext: createSecureContext(own) }
}
