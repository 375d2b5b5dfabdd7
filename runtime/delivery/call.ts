/**
 * One call of delivery over TLS, up to the head of its answer. Made of node:https alone, because what an agent imports is its memory.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { deadline } from '../clock.ts'
import { Fault } from '../fault.ts'

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
export function send({ url, agent, token, text, headers = {}, connectMs, idleMs, tls }: Call, signal: AbortSignal): Promise<Answered> {
  return new Promise((resolve) => {
    const all = {
      ...headers,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const request = httpsRequest(url, { method: 'POST', agent, headers: all, signal, timeout: idleMs, ...tls }, (response) => {
      resolve({ response, reused: request.reusedSocket, error: undefined })
    })
    if (connectMs !== undefined) limitConnecting(request, connectMs)
    request.on('timeout', () => request.destroy(new Error(`no answer within ${idleMs / 1000} s`)))
    request.on('error', (error) => resolve({ response: undefined, reused: request.reusedSocket, error }))
    request.end(text)
  })
}

/** Until the server has proved itself, too: one that hangs is connected to all the same. */
function limitConnecting(request: ClientRequest, connectMs: number): void {
  const late = deadline(connectMs)
  const end = (): void => void request.destroy(new Error(`no connection within ${connectMs / 1000} s`))
  late.addEventListener('abort', end, { once: true })
  const connected = (): void => late.removeEventListener('abort', end)
  request.once('socket', (socket) => (request.reusedSocket ? connected() : socket.once('secureConnect', connected)))
}

/** The beginning of an answer as text. */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
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

export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? `${error.code} ${error.message}` : error.message
}
