/**
 * Builds error answers as RFC 9457 problems, with a reason from fault.ts, for callers that need more than the status.
 */
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Reason } from '../platform/fault.ts'

/** An answer of `application/problem+json` (RFC 9457); `detail` is for people, `reason` for programs. */
export function problem(context: Context, status: ContentfulStatusCode, detail: string, reason?: Reason): Response {
  const body = reason === undefined ? { status, detail } : { status, reason, detail }
  return context.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json' })
}
