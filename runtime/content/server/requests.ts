/**
 * Reads and validates the JSON bodies of requests for content, and builds error answers: problem+json (RFC 9457) with a reason from
 * fault.ts.
 */
import type { Context } from 'hono'
import { Fault, type Reason } from '../../platform/fault.ts'
import { problem as problemOf } from '../../http/problem.ts'
import type { RefusedStatus } from '../protocol/protocol.ts'
import * as v from 'valibot'
import { type BodyLimits, type JsonBody, readJson, type BodyBudget } from '../../http/body.ts'

const statusByReason = new Map<Reason, RefusedStatus>([
  ['PayloadMalformed', 400],
  ['PayloadTooLarge', 413],
  ['CommitNotPublished', 404],
  ['UnknownProfile', 404],
  ['SecretNotFound', 404],
  ['UnknownBase', 409],
  ['CommitGone', 410],
  ['CommitNotServed', 410],
  ['RepositoryTooLarge', 422],
  // Permanent: this machine lacks the program.
  ['ToolMissing', 501],
])

/** 429 with a Retry-After. */
export function busy(context: Context, retryAfterSeconds: number, why: string): Response {
  context.header('retry-after', String(retryAfterSeconds))
  // A thousand waiting agents must not keep a thousand connections.
  context.header('connection', 'close')
  return problem(context, 429, 'TooManyRequests', `${why}; try again`)
}

/** The answer to a failed call: its reason, with the status of `statusByReason`; any other reason is 503, to be retried after 5 s. */
export function failed(context: Context, fault: Fault): Response {
  const status = statusByReason.get(fault.reason)
  if (status !== undefined) return problem(context, status, fault.reason, fault.message)
  context.header('retry-after', '5')
  return problem(context, 503, fault.reason, fault.message)
}

/** An answer of `application/problem+json` with a reason; `detail` is for people. */
export function problem(context: Context, status: RefusedStatus, reason: Reason, detail: string): Response {
  return problemOf(context, status, detail, reason)
}

export async function readRequest(request: Request, limits: BodyLimits, bodies: BodyBudget, namespace: string): Promise<unknown> {
  const body = await readJson(request, limits, bodies, namespace)
  if (body.kind === 'json') return body.value
  const [reason, message] = unreadable[body.kind]
  throw new Fault(reason, message)
}

/** The reason and message for an invalid body. */
const unreadable: Record<Exclude<JsonBody['kind'], 'json'>, readonly [Reason, string]> = {
  malformed: ['PayloadMalformed', 'the body is not JSON in UTF-8'],
  tooComplex: ['PayloadMalformed', 'the body is not a request for content'],
  tooLarge: ['PayloadTooLarge', 'the body is larger than a request of this kind may be'],
  cutOff: ['PayloadMalformed', 'the body ended early'],
  busy: ['TooManyRequests', 'too many large requests are being read; try again'],
}

export function commitOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'commit' in body ? body.commit : undefined
}

export function parsed<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body)
  if (result.success) return result.output
  throw new Fault('PayloadMalformed', `${v.getDotPath(result.issues[0]) ?? 'body'}: ${result.issues[0].message}`)
}
