/**
 * Refusals as RFC 9457 writes them, for callers that tell them apart by their status alone.
 */
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

export function problem(context: Context, status: ContentfulStatusCode, detail: string): Response {
  return context.body(JSON.stringify({ status, detail }), status, { 'content-type': 'application/problem+json' })
}
