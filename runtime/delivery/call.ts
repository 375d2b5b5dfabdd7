/**
 * One call of delivery over TLS, up to the head of its answer.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import { deadline } from '../clock.ts'
import { Fault } from '../fault.ts'
import { causeOf, startCall } from '../http/client.ts'

export type Call = {
  url: string
  agent: Agent
  /** The pod's token that the call is made with. */
  token: string
  /** The body, JSON. */
  text: string
  headers?: Readonly<Record<string, string>>
  /** How long it may take until there is a connection; undefined: as long as it may be silent. */
  connectMs?: number
  /** How long the connection may be silent. */
  idleMs: number
  /** Whose certificate the server must have, where the URL names an address; `ca` is PEM. */
  tls?: { servername: string; ca: string }
}

/** `reused`: the connection had been opened for an earlier call, so that the server may have closed it meanwhile. */
export type Answered = { response: IncomingMessage | undefined; reused: boolean; error: unknown }

/** Never throws. */
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

/** Until the server has proved itself, too: one that hangs is connected to all the same. */
function limitConnecting(request: ClientRequest, connectMs: number): void {
  const late = deadline(connectMs)
  const end = (): void => void request.destroy(new Error(`no connection within ${connectMs / 1000} s`))
  late.addEventListener('abort', end, { once: true })
  const connected = (): void => late.removeEventListener('abort', end)
  request.once('socket', (socket) => (request.reusedSocket ? connected() : socket.once('secureConnect', connected)))
}

/** What the sink of an answer throws is its own; what the connection throws means that nothing of the answer counts. */
export function streamFault(error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted()
  if (error instanceof Fault) return error
  const isConnection = error instanceof Error && ('code' in error || error.name === 'AbortError')
  return isConnection ? new Fault('DeliveryFailed', `the answer ended early: ${causeOf(error)}`, { cause: error }) : error
}

/** The other end closed the connection without an answer. */
export function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}
