/**
 * One request to a gateway: bounded in time and size, without following redirects; the API key never gets into a message.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { deadline } from '../clock.ts'
import { Fault } from '../fault.ts'
import { causeOf, readText, startCall } from '../http/client.ts'

/** Any HTTP answer, whatever its status. */
export type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

/** Where a gateway is, and how to be let in. */
export type Connection = {
  /** Base URL without a slash at its end. */
  url: string
  apiKey(): Promise<string | undefined>
  /** PEM; called at each use, because authorities are rotated. Undefined: the public ones are trusted. */
  ca(): Promise<string | undefined> | string | undefined
  /** Called when the gateway refused the key or its certificate is not trusted. Returns whether there are others to try with. */
  renew?: (() => Promise<boolean>) | undefined
}

/** `path` begins with a slash. `withKey` false: the API key is not sent. `headOnly`: the answer ends with its head, and its body is `''`. */
export type Call = { method: 'GET' | 'POST'; path: string; body?: unknown; timeoutMs?: number; withKey?: boolean; headOnly?: boolean }

const maxBodyBytes = 1024 * 1024
const usualTimeoutMs = 10_000

/** Throws GatewayUnreachable for anything but an HTTP answer; the caller interprets the status. */
export async function call(connection: Connection, asked: Call, signal: AbortSignal): Promise<Answer> {
  const { url, renew } = connection
  if (renew === undefined) return await callOnce(connection, asked, signal)
  try {
    const answer = await callOnce(connection, asked, signal)
    const isRefused = asked.withKey !== false && (answer.status === 401 || answer.status === 403)
    return isRefused && (await renew()) ? await callOnce(connection, asked, signal) : answer
  } catch (error) {
    const mayBeStranger = url.startsWith('https:') && error instanceof Fault && error.reason === 'GatewayUnreachable'
    if (!mayBeStranger || signal.aborted || !(await renew())) throw error
    return await callOnce(connection, asked, signal)
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
  const stop = deadline(timeoutMs ?? usualTimeoutMs, signal)
  try {
    const { answered } = startCall(url + path, { method, headers, ca: authority, signal: stop, agent: false }, text)
    return await answerOf(await answered, url + path, headOnly)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Fault) throw error
    const why = stop.aborted ? `no answer within ${Math.round((timeoutMs ?? usualTimeoutMs) / 1000)} s` : causeOf(error)
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
