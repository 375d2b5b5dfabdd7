/**
 * Wraps the API server as a record of functions: single objects, pages of lists, and the writes of this product. Every error is translated
 * into a Fault here.
 */
import pLimit from 'p-limit'
import { KubeConfig, type VersionInfo } from '@kubernetes/client-node'
import { unlessAborted } from '../platform/clock.ts'
import { Fault, type Reason } from '../platform/fault.ts'
import { causeOf, readText, Silence } from '../http/client.ts'
import { linesOf } from '../http/lines.ts'
import {
  AnswerTooLarge,
  createTransport,
  ServerUnreachable,
  type Transport,
  type TransportAnswer,
  type TransportOptions,
  type TransportRequest,
} from './transport.ts'
import { type KubeObject, type New, type ObjectKey, type PatchOf, pathOf, type ResourceType } from './types.ts'

/** The scope of a list; without `namespace` every namespace. `limit`: objects per page, 100 by default. Selectors are as in kubectl. */
export type ListOptions = { namespace?: string; labelSelector?: string; fieldSelector?: string; limit?: number }
/** Part of a list. `resourceVersion` is that of the whole list: a watch from it misses nothing. */
export type Page<Kind = KubeObject> = { items: Kind[]; resourceVersion: string }
/** `timeoutSeconds`: when the server ends the watch; `silenceMs`: how long it may send nothing; `opened`: called when it has accepted the watch. */
export type WatchOptions = Omit<ListOptions, 'limit'> & {
  resourceVersion: string
  timeoutSeconds: number
  silenceMs: number
  opened?: () => void
}
/** `type`: ADDED, MODIFIED, DELETED, BOOKMARK, or ERROR with a Status as its object. */
export type WatchEvent<Kind = KubeObject> = { type: string; object: Kind }

/** Every method throws ApiUnavailable, Forbidden, NotFound, Conflict, Rejected; `get` returns undefined instead of NotFound. */
export type Kube = {
  get<Kind extends KubeObject>(type: ResourceType<Kind>, key: ObjectKey, signal: AbortSignal): Promise<Kind | undefined>
  listPages<Kind extends KubeObject>(type: ResourceType<Kind>, options: ListOptions, signal: AbortSignal): AsyncIterable<Page<Kind>>
  /**
   * Yields the changes after `resourceVersion`, in order. Ends when the server ends the watch, or when it sends nothing for `silenceMs`.
   */
  watch<Kind extends KubeObject>(type: ResourceType<Kind>, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent<Kind>>
  create<Kind extends KubeObject>(type: ResourceType<Kind>, object: New<Kind>, signal: AbortSignal): Promise<Kind>
  /** RFC 7396. `fieldManager`: the owner of the fields; absent: the API server uses the program name of the user agent. */
  mergePatch<Kind extends KubeObject>(
    type: ResourceType<Kind>,
    key: ObjectKey,
    patch: PatchOf<Kind>,
    options: { subresource?: string; fieldManager?: string },
    signal: AbortSignal,
  ): Promise<Kind>
  /** Server-side apply. */
  apply<Kind extends KubeObject>(
    type: ResourceType<Kind>,
    object: New<Kind> & { metadata: ObjectKey },
    options: { fieldManager: string; force?: boolean },
    signal: AbortSignal,
  ): Promise<Kind>
  delete(type: ResourceType, key: ObjectKey, signal: AbortSignal): Promise<void>
  /** For reviews (TokenReview, SubjectAccessReview), which the API server answers but never stores. Returns its answer, parsed. */
  post(path: string, body: unknown, signal: AbortSignal): Promise<unknown>
  /** Returns the server's version (`v1.36.3`). Throws UnsupportedKubernetes for anything older than 1.30. */
  requireVersion(signal: AbortSignal): Promise<string>
  close(): void
}

/** Pages are small, so that a list of thousands of pods is never held as one text. */
const pageSize = 100
/** A page is in memory as bytes, text and objects at the same time. A larger one is requested again with half as many objects. */
const maxPageBytes = 2 * 1024 * 1024
const oldestMinor = 30
/**
 * For all lists together: a controller lists the pods of many namespaces at once when it starts, and a page takes about 10 MiB while it is
 * read.
 */
const pagesAtOnce = 2
const maxRefusalBytes = 64 * 1024

/** A busy server sends Retry-After. Calls are retried up to this often and this long; then the caller's own backoff applies. */
const maxAttempts = 5
const longestWaitMs = 5_000

/** Returns the delay before repeating a call that the server has not begun to handle; undefined: its answer is final. */
function waitOf({ status, retryAfterMs }: TransportAnswer): number | undefined {
  const isBusy = status === 429 || status === 503
  return isBusy && retryAfterMs !== undefined && retryAfterMs <= longestWaitMs ? retryAfterMs : undefined
}

/** The pod's own ServiceAccount, or a kubeconfig file. Throws InvalidConfiguration. */
export function loadKube({ kubeconfig }: { kubeconfig: string | undefined }): KubeConfig {
  const config = new KubeConfig()
  try {
    if (kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromFile(kubeconfig)
  } catch (error) {
    const source = kubeconfig === undefined ? "the pod's ServiceAccount" : `kubeconfig "${kubeconfig}"`
    throw new Fault('InvalidConfiguration', `${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  return config
}

/** Each client has its own connections, so that a queue in one never delays the users of another. */
export function createKube(config: KubeConfig, options: TransportOptions): Kube {
  const transport = createTransport(config, options)
  const requests = new Requests(transport, options.clock)
  const send: Send = (...request) => requests.send(...request)
  return {
    ...readsThrough(requests, send),
    watch: (type, watched, signal) => watch(transport, type, watched, signal),
    ...writesThrough(send),
    requireVersion: (signal) => requireVersion(send, signal),
    close: () => transport.close(),
  }
}

/** Sends requests, and again those that a busy server rejects. Reads few pages of lists at a time. */
class Requests {
  readonly #transport: Transport
  readonly #clock: TransportOptions['clock']
  readonly #inTurn = pLimit(pagesAtOnce)

  constructor(transport: Transport, clock: TransportOptions['clock']) {
    this.#transport = transport
    this.#clock = clock
  }

  async send<Answer>(method: string, path: string, signal: AbortSignal, body?: unknown, contentType?: string): Promise<Answer> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return await this.#send({ method, path, ...text, ...(contentType === undefined ? {} : { contentType }) }, signal)
  }

  /** Reads a page of a list; undefined if it is larger than `maxPageBytes`. A page of one object has no such bound, because it cannot be halved. */
  async page(path: string, size: number, isOfOne: boolean, signal: AbortSignal): Promise<ListAnswer | undefined> {
    try {
      const bound = size > 1 ? { maxAnswerBytes: maxPageBytes } : {}
      const read = async (): Promise<ListAnswer> => await this.#send({ method: 'GET', path, ...bound }, signal)
      signal.throwIfAborted()
      // A read of one object has a deadline of seconds, and does not wait for the lists at startup.
      return await (isOfOne ? read() : unlessAborted(this.#inTurn(read), signal))
    } catch (error) {
      if (error instanceof AnswerTooLarge && size > 1) return undefined
      throw error
    }
  }

  async #send<Answer>(request: TransportRequest, signal: AbortSignal): Promise<Answer> {
    const { method, path } = request
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#transport.send(request, signal)
      if (answer.status >= 200 && answer.status < 300) return this.#transport.parse(answer.text, `${method} ${path}`) as Answer
      const waitMs = waitOf(answer)
      if (waitMs === undefined || attempt === maxAttempts) throw faultOf(answer.status, answer.text, `${method} ${path}`)
      // With jitter, so that clients rejected together do not return together.
      await this.#clock.wait(waitMs * (1 + this.#clock.random()), signal)
    }
  }
}

function readsThrough(requests: Requests, send: Send): Pick<Kube, 'get' | 'listPages'> {
  return {
    async get(type, key, signal) {
      try {
        return await send('GET', pathOf(type, key), signal)
      } catch (error) {
        if (error instanceof Fault && error.reason === 'NotFound') return undefined
        throw error
      }
    },
    async *listPages(type, { namespace, labelSelector, fieldSelector, limit = pageSize }, signal) {
      const query = new URLSearchParams()
      if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
      if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
      const path = pathOf(type, namespace === undefined ? {} : { namespace })
      let size = limit
      for (let next: string | undefined = ''; next !== undefined;) {
        query.set('limit', String(size))
        if (next !== '') query.set('continue', next)
        const list: ListAnswer | undefined = await requests.page(`${path}?${query.toString()}`, size, limit === 1, signal)
        if (list === undefined) {
          size = Math.floor(size / 2)
          continue
        }
        next = list.metadata.continue === '' ? undefined : list.metadata.continue
        yield { items: list.items ?? [], resourceVersion: list.metadata.resourceVersion }
      }
    },
  }
}

async function* watch<Kind extends KubeObject>(
  transport: Transport,
  type: ResourceType<Kind>,
  { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, silenceMs, opened }: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<Kind>> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  })
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  const what = `watching ${type.plural}`
  const path = pathOf(type, namespace === undefined ? {} : { namespace })
  const response = await transport.open(`${path}?${query.toString()}`, silenceMs, signal)
  try {
    const status = response.statusCode ?? 0
    if (status !== 200) throw faultOf(status, (await readText(response, maxRefusalBytes)) ?? '', what)
    opened?.()
    for await (const line of linesOf(response, transport.maxAnswerBytes)) yield transport.parse(line, what) as WatchEvent<Kind>
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Silence) return
    // A list shows whether the object is really that large.
    if (error instanceof RangeError) throw new AnswerTooLarge(`${what}: an event is larger than ${transport.maxAnswerBytes} bytes`)
    throw error instanceof Fault ? error : new ServerUnreachable(`${what}: ${causeOf(error)}`, error)
  }
}

/** Sends one request to the API server, whose answer has the type that the API documents. Throws what `Kube` throws. */
type Send = <Answer>(method: string, path: string, signal: AbortSignal, body?: unknown, contentType?: string) => Promise<Answer>

function writesThrough(send: Send): Pick<Kube, 'create' | 'mergePatch' | 'apply' | 'delete' | 'post'> {
  return {
    create: async (type, object, signal) => {
      const { namespace } = (object as { metadata?: { namespace?: string } }).metadata ?? {}
      return await send('POST', pathOf(type, namespace === undefined ? {} : { namespace }), signal, object)
    },
    mergePatch: async (type, key, patch, { subresource, fieldManager }, signal) => {
      const query = fieldManager === undefined ? '' : `?${new URLSearchParams({ fieldManager }).toString()}`
      const path = `${pathOf(type, key, subresource)}${query}`
      return await send('PATCH', path, signal, patch, 'application/merge-patch+json')
    },
    apply: async (type, object, { fieldManager, force = false }, signal) => {
      const query = new URLSearchParams({ fieldManager, force: String(force) })
      const path = `${pathOf(type, object.metadata)}?${query.toString()}`
      return await send('PATCH', path, signal, object, 'application/apply-patch+yaml')
    },
    delete: async (type, key, signal) => await send('DELETE', pathOf(type, key), signal),
    post: (path, body, signal) => send('POST', path, signal, body),
  }
}

/** Throws UnsupportedKubernetes. */
async function requireVersion(send: Send, signal: AbortSignal): ReturnType<Kube['requireVersion']> {
  const { major, minor, gitVersion } = await send<VersionInfo>('GET', '/version', signal)
  // Providers add suffixes: minor "30+", gitVersion "v1.30.3-eks-a1b2c3".
  if (Number.parseInt(major, 10) === 1 && Number.parseInt(minor, 10) < oldestMinor) {
    throw new Fault('UnsupportedKubernetes', `the cluster runs Kubernetes ${gitVersion}; this operator requires 1.${oldestMinor} or newer`)
  }
  return gitVersion
}

/** The items are of the kind that was listed. */
type ListAnswer = { metadata: { resourceVersion: string; continue?: string }; items?: never[] }

/** A 403 can be temporary: right after the API server has started, or before a new role binding has reached all of its replicas. */
const reasonByStatus = new Map<number, Reason>([
  [400, 'Rejected'],
  [401, 'Forbidden'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'Rejected'],
  [409, 'Conflict'],
  [410, 'Conflict'],
  [415, 'Rejected'],
  [422, 'Rejected'],
])

/** Too busy, starting or stopping, or a proxy without a reachable API server. */
const awayStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])

function faultOf(status: number, text: string, what: string): Fault {
  let message = text.slice(0, 500)
  try {
    const answer: unknown = JSON.parse(text.slice(0, maxRefusalBytes))
    if (typeof answer === 'object' && answer !== null && 'message' in answer && typeof answer.message === 'string') message = answer.message
  } catch {
    // Not every proxy answers with a Status.
  }
  const said = `${what}: ${status} ${message}`
  return awayStatuses.has(status) ? new ServerUnreachable(said) : new Fault(reasonByStatus.get(status) ?? 'ApiUnavailable', said)
}
