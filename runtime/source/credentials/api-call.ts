/**
 * One call to the API of a git host: over https, to checked addresses, without following redirects, with a bounded answer.
 */
import { isIP } from 'node:net'
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'
import { jsonOrUndefined } from '../../json.ts'

/** How the API is reached: as the git host is, with the same authorities, proxy and rules for addresses. */
export type ApiWay = { caBundle: string | undefined; proxy: string | undefined; addresses: readonly string[] | undefined }

export type ApiAnswer = { status: number; body: unknown }

const maxBodyBytes = 64 * 1024

/** Throws what the network throws; an answer that is no JSON or too long has an undefined body. */
export async function postForJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  way: ApiWay,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const dispatcher = dispatcherFor(way)
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'user-agent': 'cluster-sync', ...headers },
      dispatcher,
      signal,
    })
    return { status: statusCode, body: jsonOrUndefined(await readBounded(body)) }
  } finally {
    await dispatcher.destroy()
  }
}

function dispatcherFor({ caBundle, proxy, addresses }: ApiWay): Dispatcher {
  const trust = caBundle === undefined ? {} : { ca: caBundle }
  const pinned = addresses === undefined ? {} : { lookup: lookupOf(addresses) }
  if (proxy === undefined) return new Agent({ connect: { ...trust, ...pinned } })
  const { username, password, origin } = new URL(proxy)
  const user = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  return new ProxyAgent({ uri: origin, proxyTls: pinned, requestTls: trust, ...(username === '' ? {} : { token: `Basic ${user}` }) })
}

/** As curl reads it: a percent sign that begins no code is one. */
function decoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (codes) => Buffer.from(codes.replaceAll('%', ''), 'hex').toString('utf8'))
}

type Answer = (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void

/** A name means what was found and permitted for it, so that it cannot mean another address a moment later. */
function lookupOf(addresses: readonly string[]) {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host: string, { all }: { all?: boolean | undefined }, answer: Answer): void => {
    if (all === true) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family ?? 4)
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBodyBytes) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
