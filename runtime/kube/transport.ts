/**
 * Requests to the API server over a connection pool of our own, with the credentials of a kubeconfig or of the pod. Both are read anew
 * when they change, because a pod's token is replaced every hour.
 */
import type { KubeConfig } from '@kubernetes/client-node'
import * as http from 'node:http'
import * as https from 'node:https'
import { type Clock, deadline } from '../clock.ts'
import { Fault } from '../fault.ts'
import { type CallOptions, causeOf, readText, startCall } from '../http/client.ts'

export type Transport = {
  /** Throws ApiUnavailable when there is no answer, AnswerTooLarge when its body is beyond the bound. */
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer>
  /**
   * Begins a GET whose answer may go on for as long as `idleMs` are never without a byte, over a connection of its own. Throws ApiUnavailable
   * when there is no answer; its body throws what the network says, and `Silence`.
   */
  open(path: string, idleMs: number, signal: AbortSignal): Promise<http.IncomingMessage>
  close(): void
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
/** An API server keeps idle connections for 90 s. */
const idleConnectionMs = 30_000
const maxHeaderBytes = 64 * 1024
/** etcd takes 1.5 MiB for an object, which a pod as JSON may exceed several times. */
export const maxAnswerBytes = 32 * 1024 * 1024
/** client-node itself reads a token file again after a minute. */
const credentialsForMs = 30_000

/** What of a call says who is asked and who asks; connections are shared by calls that agree in it. */
type Credentials = Pick<https.RequestOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername' | 'auth'> & { headers?: Headers }
type Headers = Record<string, string>

/** `connections`: to the API server, at most. */
export type TransportOptions = { clock: Clock; userAgent: string; connections?: number }

/** `connections`: the most at once; further calls wait for one. */
export function createTransport(config: KubeConfig, { clock, userAgent, connections = 32 }: TransportOptions): Transport {
  const server = config.getCurrentCluster()?.server.replace(/\/+$/, '')
  if (server === undefined) throw new Fault('InvalidConfiguration', 'the kubeconfig names no cluster')
  const { Agent } = server.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: idleConnectionMs })
  const agentOfOpen = new Agent({ keepAlive: false })
  let known: { credentials: Credentials; untilMs: number } | undefined

  const credentials = async (): Promise<Credentials> => {
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.credentials
    const options: Credentials & { agent?: unknown } = {}
    await config.applyToHTTPSOptions(options as Parameters<KubeConfig['applyToHTTPSOptions']>[0])
    // Its agent belongs to the authorities of the first call.
    const { agent: _, ...own } = options
    known = { credentials: own, untilMs: clock.monotonicMs() + credentialsForMs }
    return own
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
  const faultOf = (what: string, error: unknown, signal: AbortSignal, late?: string): Fault => {
    signal.throwIfAborted()
    return error instanceof Fault ? error : new Fault('ApiUnavailable', `${what}: ${late ?? causeOf(error)}`, { cause: error })
  }

  return {
    async send({ method, path, body, contentType = 'application/json', maxAnswerBytes: maxBytes = maxAnswerBytes }, signal) {
      const stop = deadline(timeoutMs, signal)
      const what = `${method} ${path}`
      try {
        const headers = body === undefined ? {} : { 'content-type': contentType }
        const { url, options } = await begin(path, { method, agent, headers }, stop)
        const response = await startCall(url, options, body).answered
        const text = await readText(response, maxBytes)
        if (text === undefined) throw new AnswerTooLarge(what, maxBytes)
        return { status: response.statusCode ?? 0, text, retryAfterMs: secondsToMs(response.headers['retry-after']) }
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

function secondsToMs(header: string | undefined): number | undefined {
  return header !== undefined && /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : undefined
}
