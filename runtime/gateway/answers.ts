/**
 * What an answer of a gateway means: its content, or the fault that its status stands for. Pure.
 */
import * as v from 'valibot'
import { Fault } from '../fault.ts'
import { jsonOrUndefined } from '../json.ts'
import type { Answer } from './http.ts'

/** The reason for an answer that has none of its own. */
type Otherwise = 'GatewayNotReady' | 'ScanFailed'

/** The body of an answer, which is JSON of a known form. Throws `otherwise` for any other body. */
export function parsed<Schema extends v.GenericSchema>(
  schema: Schema,
  body: string,
  route: string,
  otherwise: Otherwise = 'GatewayNotReady',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, jsonOrUndefined(body))
  if (result.success) return result.output
  throw new Fault(otherwise, `the gateway's answer to ${route} cannot be understood: ${result.issues[0].message}`)
}

/** The body of a 2xx answer; throws the fault for any other status. `level`: the permission that the call needs. */
export function required(
  { status, headers, body }: Answer,
  route: string,
  level: 'Read' | 'Write',
  otherwise: Otherwise = 'GatewayNotReady',
): string {
  if (status >= 200 && status < 300) return body
  if (status === 401)
    throw new Fault('GatewayUnauthorised', `${route}: the gateway knows no such API key (401); the Secret holds <name>:<secret>`)
  if (status === 403) {
    const why = `the API key lacks the permission ${level} (403); give it a security level of its own that has ${level}, or permit keys over http`
    throw new Fault('GatewayForbidden', `${route}: ${why}`)
  }
  if (status >= 300 && status < 400) {
    throw new Fault('GatewayNotReady', `${route}: redirected to ${printableLocation(headers.location)}; the gateway is being commissioned`)
  }
  const isForNow = status === 400 || status === 429 || status >= 500
  throw new Fault(isForNow ? 'GatewayNotReady' : otherwise, `${route}: the gateway answered ${status}`)
}

function printableLocation(location: string | undefined): string {
  return (location ?? 'nowhere').slice(0, 100)
}
