/**
 * Refusals as RFC 9457 writes them. `reason` is a word of the table of reasons, for callers that tell refusals apart by more than status.
 */
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Reason } from '../fault.ts'

/** An answer of `application/problem+json` (RFC 9457); `detail` is for people, `reason` for programs. */
export function problem(context: Context, status: ContentfulStatusCode, detail: string, reason?: Reason): Response {
  const body = reason === undefined ? { status, detail } : { status, reason, detail }
  return context.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' })
}
