/**
 * Bodies over HTTP: requests read within a bound, refusals as RFC 9457 writes them. The receiver reads by itself, because it proves a body
 * while it comes.
 */
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** The whole body, or undefined once it proves longer than permitted; the rest is not read. */
export async function readText(request: Request, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return undefined
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** For callers that tell refusals apart by their status alone. */
export function problem(context: Context, status: ContentfulStatusCode, detail: string): Response {
  return context.body(JSON.stringify({ status, detail }), status, { 'content-type': 'application/problem+json' })
}
