/**
 * Makes one TLS call to the content server, up to the head of its answer.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { causeOf, startCall } from '../../http/client.ts'

/** A POST from an agent to the controller, or from one replica to another. */
export type Call = {
  url: string
  agent: Agent
  /** The pod's token. */
  token: string
  /** The body, JSON. */
  text: string
  headers?: Readonly<Record<string, string>>
  /** Deadline of the TLS connection; undefined: `idleMs` alone applies. */
  connectMs?: number
  /** How long the connection may be idle. */
  idleMs: number
  /** The expected certificate name if the URL has an IP address; `ca` is PEM. */
  tls?: { servername: string; ca: string }
}

/** Exactly one of `response` and `error` is set. `reused`: an existing connection was used, which the server may have closed meanwhile. */
export type Answered = { response: IncomingMessage | undefined; reused: boolean; error: unknown }

/** Settles with the head of the response, regardless of its status. Never throws. */
export async function send({ url, token, text, headers = {}, connectMs, tls, ...options }: Call, signal: AbortSignal): Promise<Answered> {
  const all = { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { request, answered } = startCall(url, { ...options, ...tls, method: 'POST', headers: all, signal }, text)
  if (connectMs !== undefined) limitConnecting(request, connectMs)
  try {
    return { response: await answered, reused: request.reusedSocket, error: undefined }
  } catch (error) {
    return { response: undefined, reused: request.reusedSocket, error }
  }
}

/** Includes the TLS handshake: a server that hangs still accepts TCP connections. */
function limitConnecting(request: ClientRequest, connectMs: number): void {
  const late = deadline(connectMs)
  const end = (): void => void request.destroy(new Error(`no connection within ${connectMs / 1000} s`))
  late.addEventListener('abort', end, { once: true })
  const connected = (): void => late.removeEventListener('abort', end)
  request.once('socket', (socket) => (request.reusedSocket ? connected() : socket.once('secureConnect', connected)))
}

/** Returns DeliveryFailed for a connection error: the answer is incomplete. Errors of the consumer are returned unchanged. */
export function streamFault(error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted()
  if (error instanceof Fault) return error
  const isConnection = error instanceof Error && ('code' in error || error.name === 'AbortError')
  return isConnection ? new Fault('DeliveryFailed', `the response ended early: ${causeOf(error)}`, { cause: error }) : error
}

/** Whether the other end closed the connection without an answer. */
export function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}
