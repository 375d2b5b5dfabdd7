/**
 * One call to the API of a git host: over https, to checked addresses, without following redirects, with a bounded answer.
 */
import { isIP } from 'node:net'
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'

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
    return { status: statusCode, body: parse(await readBounded(body)) }
  } finally {
    await dispatcher.destroy()
  }
}

function dispatcherFor({ caBundle, proxy, addresses }: ApiWay): Dispatcher {
  const trust = caBundle === undefined ? {} : { ca: caBundle }
  if (proxy !== undefined) {
    const { username, password, origin } = new URL(proxy)
    const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    return new ProxyAgent({ uri: origin, requestTls: trust, ...(username === '' ? {} : { token: `Basic ${user}` }) })
  }
  const found = addresses?.map((address) => ({ address, family: isIP(address) }))
  if (found === undefined) return new Agent({ connect: trust })
  type Answer = (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void
  const lookup = (_host: string, options: { all?: boolean | undefined }, answer: Answer): void => {
    if (options.all === true) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family ?? 4)
  }
  return new Agent({ connect: { ...trust, lookup } })
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
