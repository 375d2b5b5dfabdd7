/**
 * Reads from a registry over its HTTP API (OCI Distribution Specification), with the token flow that registries share (CNCF Distribution,
 * spec/auth/token). Every answer is bounded and destroyed unless it is read to its end, because the rest may be endless. Every address is
 * checked, those of token services and redirects too.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { type Digest, isDigest } from '../../api/artifact-revision.ts'
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { isObject } from '../../platform/text/json.ts'
import { parseBody } from '../../http/body.ts'
import { readBytes, startCall } from '../../http/client.ts'
import { connectionOptions } from '../credentials/api-call.ts'
import { requireCertificate } from '../remote/pem.ts'
import { addressesOf, type Network } from '../remote/network.ts'
import { proxyFor } from '../remote/proxy.ts'
import type { Remote } from '../remote/remote.ts'
import { type Layer, manifestTypes } from './manifest.ts'
import { isTimeout, networkFault } from './network-fault.ts'
import { retryAfterToMs } from '../../http/headers.ts'

/** Manifests of artifacts and signatures have a few KiB. */
const maxManifestBytes = 1024 * 1024
const maxPageBytes = 1024 * 1024
/** As for git hosts: all tags are compared at each poll. */
const maxTags = 20_000
/** 20,000 tags of the maximum length have 2.5 MiB. */
const maxTagBytes = 4 * 1024 * 1024
/** Comparing so many long versions takes a millisecond or two. */
const tagsPerTurn = 200
/** Registries give at least a hundred in a page. */
const [tagsPerPage, maxPages] = [1_000, 200]
/** A registry sends a blob from another host after one redirect. */
const maxRedirects = 3
const redirects = new Set<number | undefined>([301, 302, 303, 307, 308])
const defaultTimeoutMs = 30_000
const idleMs = 30_000

type RequestOptions = { method?: 'GET' | 'HEAD'; accept?: string }

/** A repository of a registry, for one resolution: it keeps the token that it got. */
export class Registry {
  readonly #remote: Remote
  readonly #network: Network
  readonly #timeoutMs: number
  /** Parsed once: a large bundle takes milliseconds. */
  readonly #trust: { secureContext?: SecureContext }
  readonly #scheme: 'https' | 'http'
  #authorization: string | undefined

  /** `timeoutMs`: of each answer without the content of a blob that is opened. */
  constructor(remote: Remote, network: Network, timeoutMs = defaultTimeoutMs) {
    this.#remote = remote
    this.#network = network
    this.#timeoutMs = timeoutMs
    this.#scheme = remote.url.protocol === 'oci' ? 'https' : 'http'
    const { caBundle } = remote.access
    if (caBundle !== undefined) requireCertificate(caBundle, 'spec.oci.caBundle')
    this.#trust = caBundle === undefined ? {} : { secureContext: createSecureContext({ ca: caBundle }) }
  }

  /** The digest that a tag points to; undefined without such a tag. Throws the faults of a registry. */
  async digestOf(tag: string, signal: AbortSignal): Promise<Digest | undefined> {
    const own = deadline(this.#timeoutMs, signal)
    // A question without content: registries limit how often a manifest is read.
    const answer = await this.#send(`manifests/${tag}`, { method: 'HEAD', accept: manifestTypes }, own)
    answer.destroy()
    const digest = answer.headers['docker-content-digest']
    if (answer.statusCode === 404) return undefined
    if (typeof digest === 'string' && isDigest(digest)) return digest
    const manifest = await this.#manifest(tag, own)
    return manifest === undefined ? undefined : digestOfBytes(manifest)
  }

  /** A manifest by its digest, which it is checked against; undefined if the registry has none. Throws the faults of a registry. */
  async manifest(digest: Digest, signal: AbortSignal): Promise<Buffer | undefined> {
    const manifest = await this.#manifest(digest, deadline(this.#timeoutMs, signal))
    if (manifest !== undefined && digestOfBytes(manifest) !== digest)
      throw new Fault('RepositoryRefused', `${this.#named} sent a manifest that does not have the digest ${digest}`)
    return manifest
  }

  /** Yields all tags in parts, between which other work gets its turn. Throws RepositoryTooLarge and the faults of a registry. */
  async *tags(signal: AbortSignal): AsyncGenerator<readonly string[]> {
    const own = deadline(this.#timeoutMs, signal)
    let [pages, count, bytes] = [0, 0, 0]
    for (let page: string | undefined = `tags/list?n=${tagsPerPage}`; page !== undefined; pages += 1) {
      if (pages === maxPages) throw new Fault('RepositoryTooLarge', `${this.#named} sends its tags in more than ${maxPages} pages`)
      const answer: IncomingMessage = await this.#send(page, {}, own)
      if (answer.statusCode === 404) throw this.#notFound(answer)
      const body = await this.#body(answer, maxPageBytes)
      bytes += body.length
      if (bytes > maxTagBytes) throw new Fault('RepositoryTooLarge', `${this.#named} sends more than ${maxTagBytes / 2 ** 20} MiB of tags`)
      const document = parsed(body, maxTags)
      const tags: unknown[] = isObject(document) && Array.isArray(document['tags']) ? document['tags'] : []
      const named = tags.filter((tag) => typeof tag === 'string' && isTag(tag)) as string[]
      count += named.length
      if (count > maxTags)
        throw new Fault('RepositoryTooLarge', `${this.#named} has more than ${maxTags} tags; delete old ones, or name a tag`)
      for (let start = 0; start < named.length; start += tagsPerTurn) {
        yield named.slice(start, start + tagsPerTurn)
        await yieldToEventLoop()
      }
      // The next page begins after the last tag; the link itself may lead to any place.
      const last = named.at(-1)
      page =
        answer.headers['link'] === undefined || last === undefined
          ? undefined
          : `tags/list?n=${tagsPerPage}&last=${encodeURIComponent(last)}`
    }
  }

  /** A blob of at most `maxBytes`, checked against its digest. Throws the faults of a registry. */
  async smallBlob({ digest }: Layer, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const bytes = await this.#body(await this.openBlob(digest, deadline(this.#timeoutMs, signal)), maxBytes)
    if (digestOfBytes(bytes) !== digest)
      throw new Fault('RepositoryRefused', `${this.#named} sent a blob that does not have the digest ${digest}`)
    return bytes
  }

  /** The content of a blob, which the caller bounds and checks; `signal` also ends the content. Throws the faults of a registry. */
  async openBlob(digest: Digest, signal: AbortSignal): Promise<IncomingMessage> {
    const head = deadline(this.#timeoutMs)
    const late = new AbortController()
    const stop = (): void => late.abort(head.reason)
    head.addEventListener('abort', stop, { once: true })
    try {
      return await this.#openBlob(digest, AbortSignal.any([signal, late.signal]))
    } finally {
      head.removeEventListener('abort', stop)
    }
  }

  async #openBlob(digest: Digest, signal: AbortSignal): Promise<IncomingMessage> {
    let answer = await this.#send(`blobs/${digest}`, {}, signal)
    let from = this.#urlOf(`blobs/${digest}`)
    for (let count = 0; redirects.has(answer.statusCode); count += 1) {
      answer.destroy()
      const to = URL.parse(answer.headers.location ?? '', from.href)
      if (to === null || count === maxRedirects || to.protocol !== `${this.#scheme}:`)
        throw new Fault('RepositoryMoved', `${this.#named} redirects a blob to an address that is not followed`)
      // Without the credentials: the address holds what it needs.
      answer = await this.#open(to, {}, undefined, signal)
      from = to
    }
    if (answer.statusCode !== 200) throw answer.statusCode === 404 ? this.#notFound(answer) : this.#faultOf(answer, from.host)
    return answer
  }

  async #manifest(reference: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const answer = await this.#send(`manifests/${reference}`, { accept: manifestTypes }, signal)
    if (answer.statusCode !== 404) return await this.#body(answer, maxManifestBytes)
    answer.destroy()
    return undefined
  }

  async #body(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
    const body = await readBytes(answer, maxBytes).catch((error: unknown) => {
      throw networkFault(error, this.#host)
    })
    if (body === undefined) throw new Fault('RepositoryTooLarge', `${this.#named} sent a response of more than ${maxBytes / 1024} KiB`)
    return body
  }

  /** Sends the request with the present token; again with a new one if the registry requires one. Returns the statuses 2xx, 3xx and 404. */
  async #send(path: string, options: RequestOptions, signal: AbortSignal): Promise<IncomingMessage> {
    const url = this.#urlOf(path)
    let answer = await this.#open(url, options, this.#authorization, signal)
    if (answer.statusCode === 401) {
      answer.destroy()
      this.#authorization = await this.#authorize(answer.headers['www-authenticate'] ?? '', signal)
      answer = await this.#open(url, options, this.#authorization, signal)
    }
    const { statusCode: status = 0 } = answer
    if ((status >= 200 && status < 400) || status === 404) return answer
    throw this.#faultOf(answer, this.#host)
  }

  async #authorize(challenge: string, signal: AbortSignal): Promise<string> {
    const { credentials } = this.#remote.access
    const basic =
      credentials.kind === 'basic'
        ? `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
        : undefined
    const [, scheme = ''] = /^(\w+)/.exec(challenge) ?? []
    if (scheme.toLowerCase() !== 'bearer') {
      if (basic === undefined) throw this.#unauthorized()
      return basic
    }
    const parameter = (name: string): string | undefined => new RegExp(`[ ,]${name}="([^"]*)"`).exec(challenge)?.[1]
    const realm = URL.parse(parameter('realm') ?? '')
    if (realm === null || (realm.protocol !== 'https:' && realm.protocol !== `${this.#scheme}:`))
      throw new Fault('GitUnauthorized', `${this.#named} names no usable token service`)
    const service = parameter('service')
    if (service !== undefined) realm.searchParams.set('service', service)
    realm.searchParams.set('scope', `repository:${this.#repository}:pull`)
    const answer = await this.#open(realm, {}, basic, signal)
    if (answer.statusCode !== 200) {
      answer.destroy()
      const isRefusal = answer.statusCode === 400 || answer.statusCode === 401 || answer.statusCode === 403
      throw isRefusal ? this.#unauthorized() : this.#faultOf(answer, realm.host)
    }
    const document = parsed(await this.#body(answer, maxPageBytes), 100)
    const { token, access_token: same } = isObject(document) ? document : {}
    const text = typeof token === 'string' ? token : same
    if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
      throw new Fault('GitUnauthorized', `${realm.host} issued no token for ${this.#named}`)
    return `Bearer ${text}`
  }

  async #open(
    url: URL,
    { method = 'GET', accept }: RequestOptions,
    authorization: string | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const { proxy: own } = this.#remote.access
    // Through a proxy only over TLS, so that the proxy can change nothing.
    const proxy = url.protocol === 'https:' ? proxyFor({ protocol: 'https', host }, own, this.#network.proxy, 'spec.oci.proxy') : undefined
    const addresses = await addressesOf(host, proxy, this.#network, signal)
    const headers = {
      'user-agent': 'cluster-sync',
      ...(accept === undefined ? {} : { accept }),
      ...(authorization === undefined ? {} : { authorization }),
    }
    try {
      const way = await connectionOptions(url, { caBundle: undefined, proxy: proxy?.url, addresses }, signal)
      return await startCall(url, { ...way, ...this.#trust, method, headers, signal, idleMs }).answered
    } catch (error) {
      if (signal.aborted && !isTimeout(signal.reason)) throw signal.reason
      throw networkFault(error, url.host)
    }
  }

  get #host(): string {
    const { host, port } = this.#remote.url
    return `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`
  }

  get #repository(): string {
    return this.#remote.url.text.replace(/^[^/]*\/\/[^/]*\//, '')
  }

  get #named(): string {
    return `${this.#host}/${this.#repository}`
  }

  #urlOf(path: string): URL {
    return new URL(`${this.#scheme}://${this.#host}/v2/${this.#repository}/${path}`)
  }

  #notFound(answer: IncomingMessage): Fault {
    answer.destroy()
    return new Fault('RepositoryNotFound', `the registry has no repository ${this.#named}, or hides it from these credentials`)
  }

  #unauthorized(): Fault {
    const which = this.#remote.access.credentials.kind === 'none' ? 'no credentials; set spec.oci.auth' : 'the credentials of spec.oci.auth'
    return new Fault('GitUnauthorized', `${this.#named} refused ${which}`)
  }

  #faultOf(answer: IncomingMessage, host: string): Fault {
    answer.destroy()
    const { statusCode: status = 0, headers } = answer
    if (status === 401) return this.#unauthorized()
    if (status === 403) return new Fault('GitForbidden', `${host} does not permit reading ${this.#named} (403)`)
    const retryAfterMs = retryAfterToMs(headers['retry-after'], headers.date)
    const options = retryAfterMs === undefined ? {} : { retryAfterMs }
    if (status === 429) return new Fault('TooManyRequests', `${host} limits how often ${this.#named} is read (429)`, options)
    return new Fault('GitUnreachable', `${host} answered ${status} for ${this.#named}`, options)
  }
}

/** Whether a text may be a tag, and so a part of a path (OCI Distribution Specification). */
export function isTag(text: string): boolean {
  return /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/.test(text)
}

/** Undefined unless the body is JSON with one list of at most `entries`, which is cheap to parse. */
function parsed(body: Buffer, entries: number): unknown {
  const json = parseBody(body, { depth: 4, keys: 50, containers: 20, entries })
  return json.kind === 'json' ? json.value : undefined
}

function digestOfBytes(bytes: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
