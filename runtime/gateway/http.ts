/**
 * Sends one request to a gateway: bounded in time and size, without following redirects; the API key never appears in a message. And
 * interprets the response: its content, or the fault for its status.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { deadline } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { causeOf, readText, startCall } from '../http/client.ts'
import { jsonOrUndefined } from '../platform/text/json.ts'

/** Any HTTP response, regardless of its status. */
export type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

/** The address of a gateway, and its credentials. */
export type Connection = {
  /** Base URL without a trailing slash. */
  url: string
  apiKey(): Promise<string | undefined>
  /** PEM; called for each request, because CAs are rotated. Undefined: the public CAs are trusted. */
  ca(): Promise<string | undefined> | string | undefined
  /** Called if the gateway rejected the key or its certificate is not trusted. Returns whether there are new ones to retry with. */
  renew?: (() => Promise<boolean>) | undefined
}

/**
 * `path` begins with a slash. `withKey` false: the API key is not sent. `headOnly`: only the response's head is read, and its body is `''`.
 */
export type Call = { method: 'GET' | 'POST'; path: string; body?: unknown; timeoutMs?: number; withKey?: boolean; headOnly?: boolean }

const maxBodyBytes = 1024 * 1024
const defaultTimeoutMs = 10_000

/** Throws GatewayUnreachable for anything but an HTTP response; the caller interprets the status. */
export async function call(connection: Connection, request: Call, signal: AbortSignal): Promise<Answer> {
  const { url, renew } = connection
  if (renew === undefined) return await callOnce(connection, request, signal)
  try {
    const answer = await callOnce(connection, request, signal)
    const isRefused = request.withKey !== false && (answer.status === 401 || answer.status === 403)
    return isRefused && (await renew()) ? await callOnce(connection, request, signal) : answer
  } catch (error) {
    const mayBeStranger = url.startsWith('https:') && error instanceof Fault && error.reason === 'GatewayUnreachable'
    if (!mayBeStranger || signal.aborted || !(await renew())) throw error
    return await callOnce(connection, request, signal)
  }
}

async function callOnce(
  { url, apiKey, ca }: Connection,
  { method, path, body, timeoutMs, withKey = true, headOnly = false }: Call,
  signal: AbortSignal,
): Promise<Answer> {
  const key = withKey ? await apiKey() : undefined
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers: OutgoingHttpHeaders = { accept: 'application/json' }
  if (key !== undefined) headers['x-ignition-api-token'] = key
  if (text !== undefined) headers['content-type'] = 'application/json'
  const authority = await ca()
  const stop = deadline(timeoutMs ?? defaultTimeoutMs, signal)
  try {
    const { answered } = startCall(url + path, { method, headers, ca: authority, signal: stop, agent: false }, text)
    return await answerOf(await answered, url + path, headOnly)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Fault) throw error
    const why = stop.aborted ? `no answer within ${Math.round((timeoutMs ?? defaultTimeoutMs) / 1000)} s` : causeOf(error)
    throw new Fault('GatewayUnreachable', `${method} ${url}${path}: ${why}`, { cause: error })
  }
}

async function answerOf(response: IncomingMessage, url: string, headOnly: boolean): Promise<Answer> {
  const { statusCode: status = 0, headers } = response
  if (headOnly) {
    response.destroy()
    return { status, headers, body: '' }
  }
  const body = await readText(response, maxBodyBytes)
  if (body === undefined) throw new Fault('GatewayUnreachable', `${url} answered with more than ${maxBodyBytes} bytes`)
  return { status, headers, body }
}

/** The reason for a response that has no specific one. */
type Otherwise = 'GatewayNotReady' | 'ScanFailed'

/** Parses the body of a response, which is JSON of a known form. Throws `otherwise` for any other body. */
export function parsed<Schema extends v.GenericSchema>(
  schema: Schema,
  body: string,
  route: string,
  otherwise: Otherwise = 'GatewayNotReady',
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, jsonOrUndefined(body))
  if (result.success) return result.output
  throw new Fault(otherwise, `the gateway's response to ${route} is not valid: ${result.issues[0].message}`)
}

/** Returns the body of a 2xx response; throws the fault for any other status. `level`: the permission that the call needs. */
export function required(
  { status, headers, body }: Answer,
  route: string,
  level: 'Read' | 'Write',
  otherwise: Otherwise = 'GatewayNotReady',
): string {
  if (status >= 200 && status < 300) return body
  if (status === 401)
    throw new Fault(
      'GatewayUnauthorized',
      `${route}: the gateway does not accept this API key (401); the Secret must contain <name>:<secret>`,
    )
  if (status === 403) {
    const why = `the API key lacks the permission ${level} (403); give it its own security level with ${level}, or permit keys over http`
    throw new Fault('GatewayForbidden', `${route}: ${why}`)
  }
  if (status >= 300 && status < 400) {
    throw new Fault('GatewayNotReady', `${route}: redirected to ${printableLocation(headers.location)}; the gateway is being commissioned`)
  }
  const isTemporary = status === 400 || status === 429 || status >= 500
  throw new Fault(isTemporary ? 'GatewayNotReady' : otherwise, `${route}: the gateway answered ${status}`)
}

function printableLocation(location: string | undefined): string {
  return (location ?? 'nowhere').slice(0, 100)
}
