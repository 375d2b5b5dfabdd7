/**
 * One call to the API of a git host: over https, to checked addresses, without following redirects, with a bounded answer.
 */
import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, type ConnectionOptions } from 'node:tls'
import { parseBody } from '../../http/body.ts'
import { type CallOptions, readBytes, startCall } from '../../http/client.ts'
import type { Complexity } from '../../platform/text/json.ts'

/** How to reach the API: `caBundle` in PEM, the URL of the proxy, and the only addresses to connect to. */
export type ApiRoute = { caBundle: string | undefined; proxy: string | undefined; addresses: readonly string[] | undefined }

/** A response with any status; the caller interprets it. `retryAfter` is the unparsed header. */
export type ApiAnswer = {
  status: number
  /** Parsed JSON; undefined when it is not JSON, over the bound, or costly to parse. */
  body: unknown
  /** The header of that name (RFC 9110, 10.2.3). */
  retryAfter: string | undefined
}

/** `method`: POST by default. `maxBodyBytes`: of the answer, 64 KiB by default. */
export type ApiCall = {
  url: string
  headers: Readonly<Record<string, string>>
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH'
  body?: string
  maxBodyBytes?: number
}

const defaultMaxBodyBytes = 64 * 1024
/** A hundred pull requests of GitHub have 31,000 keys and 2,300 lists and objects. */
const complexity: Complexity = { depth: 64, keys: 60_000, containers: 10_000, entries: 80_000 }

/** Returns any status; redirects are not followed. Throws only what the network throws. */
export async function callForJson(
  { url, headers, method = 'POST', body: sent = method === 'GET' ? undefined : '', maxBodyBytes = defaultMaxBodyBytes }: ApiCall,
  way: ApiRoute,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const options = {
    ...(await connectionOptions(new URL(url), way, signal)),
    method,
    headers: { 'user-agent': 'cluster-sync', ...headers },
    signal,
  }
  const response = await startCall(url, options, sent).answered
  const bytes = await readBytes(response, maxBodyBytes)
  const parsed = bytes === undefined ? undefined : parseBody(bytes, complexity)
  const body = parsed?.kind === 'json' ? parsed.value : undefined
  return { status: response.statusCode ?? 0, body, retryAfter: response.headers['retry-after'] }
}

/** The options with which a call uses this connection. Throws what the network throws. */
export async function connectionOptions(url: URL, { caBundle, proxy, addresses }: ApiRoute, signal: AbortSignal): Promise<CallOptions> {
  const trust = caBundle === undefined ? {} : { ca: caBundle }
  const pinned = addresses === undefined ? {} : { lookup: lookupOf(addresses) }
  return { ...trust, ...(proxy === undefined ? { ...pinned, agent: false } : await tunnel(url, new URL(proxy), pinned, signal)) }
}

/** Connects to an API through a proxy by CONNECT (RFC 9110, 9.3.6). Throws what the network throws. */
export async function tunnel(
  api: URL,
  proxy: URL,
  pinned: Pick<https.RequestOptions, 'lookup'>,
  signal: AbortSignal,
): Promise<Pick<https.RequestOptions, 'createConnection'>> {
  const host = api.hostname.replaceAll(/^\[|\]$/g, '')
  const target = `${api.hostname}:${api.port === '' ? '443' : api.port}`
  const user = Buffer.from(`${decoded(proxy.username)}:${decoded(proxy.password)}`).toString('base64')
  const headers = { host: target, ...(proxy.username === '' ? {} : { 'proxy-authorization': `Basic ${user}` }) }
  const { request } = proxy.protocol === 'https:' ? https : http
  // Because of the header, Node would expect the certificate of the API from the proxy.
  const servername = isIP(proxy.hostname.replaceAll(/^\[|\]$/g, '')) === 0 ? proxy.hostname : ''
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const asked = request(proxy.origin, { ...pinned, servername, method: 'CONNECT', path: target, headers, agent: false, signal })
    asked.on('error', reject)
    asked.on('connect', (answer, connected: Duplex) => {
      if (answer.statusCode === 200) return resolve(connected)
      connected.destroy()
      return reject(new Error(`the proxy answered with ${answer.statusCode}`))
    })
    asked.end()
  })
  // Server name indication takes names only, no addresses (RFC 6066, 3).
  const name = isIP(host) === 0 ? { servername: host } : {}
  return { createConnection: (options) => connect({ ...(options as ConnectionOptions), ...name, socket }) }
}

/** Decodes percent-encoding like curl: a percent sign that does not begin one is literal. */
function decoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (codes) => Buffer.from(codes.replaceAll('%', ''), 'hex').toString('utf8'))
}

/** Resolves every name to the addresses that were checked, so that a second resolution cannot lead elsewhere (DNS rebinding). */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all }, answer) => {
    if (all === true) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family ?? 4)
  }
}
