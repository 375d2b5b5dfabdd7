/**
 * Reads and validates the JSON bodies of requests for content.
 */
import * as v from 'valibot'
import { Fault, type Reason } from '../../platform/fault.ts'
import { type BodyLimits, type JsonBody, readJson, type BodyBudget } from '../../http/body.ts'

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
