/**
 * One HTTP call up to the head of its answer, and its body within a bound. Made of node:http and node:https alone, because what a process
 * imports is its memory: `fetch` is 9 MiB. No redirect is followed.
 */
import * as http from 'node:http'
import * as https from 'node:https'

export type CallOptions = Omit<https.RequestOptions, 'timeout'> & {
  /** How long the connection may be silent, before the answer and within it. */
  idleMs?: number
}

export type StartedCall = {
  request: http.ClientRequest
  /** The answer once its head is there. Rejects with what the network says, or with `Silence`. */
  answered: Promise<http.IncomingMessage>
}

/** Nothing has come for as long as a call was told to wait. */
export class Silence extends Error {
  readonly code = 'ETIMEDOUT'

  constructor(idleMs: number) {
    super(`nothing came for ${idleMs / 1000} s`)
  }
}

/** `body`: UTF-8. The signal of the options ends the call and its answer. */
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
    // After the head has come the answer itself tells of it.
    request.on('error', reject)
    if (idleMs !== undefined) request.on('timeout', () => (response ?? request).destroy(new Silence(idleMs)))
  })
  request.end(body)
  return { request, answered }
}

/** The body as UTF-8; undefined when it is larger, the rest of which is not read. Throws what the network says. */
export async function readText(response: http.IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What happened to a connection, with the system's word for it where there is one. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? `${error.code} ${error.message}` : error.message
}
