/**
 * Makes one HTTP call up to the head of its answer, and reads its body within a bound. Uses only node:http and node:https, because every
 * import costs memory: `fetch` takes 9 MiB. Redirects are not followed.
 */
import * as http from 'node:http'
import * as https from 'node:https'

/** Node's options, with an idle timeout in place of its timeout. */
export type CallOptions = Omit<https.RequestOptions, 'timeout'> & {
  /** How long the connection may be idle, before the response and during it. */
  idleMs?: number
}

/** A running call. */
export type StartedCall = {
  request: http.ClientRequest
  /** Settles with the head of the answer. Rejects with network errors, or with `Silence`. */
  answered: Promise<http.IncomingMessage>
}

/** Nothing has arrived for `idleMs`. */
export class Silence extends Error {
  readonly code = 'ETIMEDOUT'

  constructor(idleMs: number) {
    super(`no data for ${idleMs / 1000} s`)
  }
}

/** Starts a call; `body` is sent as UTF-8. The options' signal aborts the call and its answer. Throws only for an invalid URL or option. */
export function startCall(url: string | URL, { idleMs, ...options }: CallOptions, body?: string): StartedCall {
  const { request: begin } = new URL(url).protocol === 'https:' ? https : http
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const request = begin(url, {
    ...options,
    headers: { ...(options.headers as http.OutgoingHttpHeaders | undefined), ...length },
    ...(idleMs === undefined ? {} : { timeout: idleMs }),
  })
  let response: http.IncomingMessage | undefined
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', (answer) => {
      response = answer
      resolve(answer)
    })
    // Once the head has arrived, the response reports errors itself.
    request.on('error', reject)
    // Node closes the connection without an error when the answer is 101, Switching Protocols.
    request.on('close', () => reject(new Error('the connection was closed without an answer')))
    if (idleMs !== undefined) request.on('timeout', () => (response ?? request).destroy(new Silence(idleMs)))
  })
  request.end(body)
  return { request, answered }
}

/** Returns the body as UTF-8; undefined when it is over `maxBytes`, and the rest is not read. Throws network errors. */
export async function readText(response: http.IncomingMessage, maxBytes: number): Promise<string | undefined> {
  return (await readBytes(response, maxBytes))?.toString('utf8')
}

/** As `readText`, byte by byte. */
export async function readBytes(response: http.IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Describes a connection error, beginning with the system's code if it has one. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? `${error.code} ${error.message}` : error.message
}
