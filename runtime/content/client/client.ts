/**
 * The agent's content client: a `Source` over TLS with the pod's token.
 */
import type { IncomingMessage } from 'node:http'
import { Agent } from 'node:https'
import { finished } from 'node:stream/promises'
import { type Clock, deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { causeOf, readText } from '../../http/client.ts'
import { isReset, send, streamFault } from './call.ts'
import { type FramesReader, framesReader } from '../protocol/content-frames.ts'
import { fileFramesReader } from '../protocol/file-frames.ts'
import { changesReader, decodeCaptureAnswer, decodeGatewayAccess, decodeProblem, maxIdsPerRequest } from '../protocol/frames.ts'
import {
  type BlobsRequest,
  type CaptureAnswer,
  type CaptureOffer,
  type ChangesRequest,
  type DeliveryRoute,
  type FilesRequest,
  type GatewayAccess,
  routePath,
  type Source,
} from '../protocol/protocol.ts'

/** The controller, its CA, and the requested GatewaySync (`namespace`, `name`). */
export type DeliveryClientOptions = {
  /** `https://host:port`. */
  url: string
  /** The CA of the controller's certificate, PEM. */
  caBundle: string
  /** Read at each call: the kubelet replaces it every hour. */
  token(): Promise<string>
  namespace: string
  name: string
  clock: Clock
}

/** A first sync of a large repository on a busy controller. */
const streamTimeoutMs = 600_000
const headTimeoutMs = 60_000
const maxProblemBytes = 64 * 1024
/**
 * A whole fleet takes some minutes for a first sync. After this long in the queue the call fails with the reason, and the agent retries. An
 * agent queues when the server responds with Retry-After, and when its connection is closed without an answer: a controller at its
 * connection limit does that with new ones.
 */
const longestQueueMs = 300_000
/** How often a 503 is retried: temporary failures often resolve immediately. After that its reason is reported. */
const maxUnavailable = 3
/**
 * How long an agent waits after its connection was closed: one second more each time. A thousand agents that connect at the same time are
 * served within a minute.
 */
const resetWaitMs = { first: 1_000, most: 4_000 }
const longestWaitSeconds = 15
/** A Secret holds a megabyte. */
const maxAccessBytes = 2 * 1024 * 1024

/** The requests of an agent to its controller. */
export type DeliveryClient = Source & {
  /** Throws SecretNotFound and what `Source` throws. */
  gateway(signal: AbortSignal): Promise<GatewayAccess>
  /** Offers the changes on the gateway. */
  capture(offer: CaptureOffer, signal: AbortSignal): Promise<CaptureAnswer>
}

/**
 * A client for the content of one GatewaySync. Its calls throw DeliveryUnauthorized, DeliveryUnreachable,
 * DeliveryFailed, TooManyRequests and the reasons of the server's error answers.
 */
export class ContentClient implements DeliveryClient {
  readonly #options: DeliveryClientOptions
  readonly #agent: Agent

  constructor(options: DeliveryClientOptions) {
    this.#options = options
    this.#agent = new Agent({ ca: options.caBundle, keepAlive: true, maxSockets: 2, minVersion: 'TLSv1.2' })
  }

  async gateway(signal: AbortSignal): Promise<GatewayAccess> {
    const response = await this.#send('gateway', {}, signal)
    return decodeGatewayAccess((await readText(response, maxAccessBytes)) ?? '')
  }

  async capture(offer: CaptureOffer, signal: AbortSignal): Promise<CaptureAnswer> {
    const response = await this.#send('capture', offer, signal)
    return decodeCaptureAnswer((await readText(response, maxProblemBytes)) ?? '')
  }

  async *changes(request: ChangesRequest, signal: AbortSignal): ReturnType<Source['changes']> {
    const stop = deadline(streamTimeoutMs, signal)
    const response = await this.#send('changes', request, stop)
    const reader = changesReader()
    response.setEncoding('utf8')
    try {
      for await (const text of response as AsyncIterable<string>) {
        const batch = reader.take(text)
        if (batch.length > 0) yield batch
      }
    } catch (error) {
      throw streamFault(error, signal)
    }
    reader.finish()
  }

  async blobs({ commit, profile, ids }: BlobsRequest, sink: Parameters<Source['blobs']>[1], signal: AbortSignal): Promise<void> {
    const stop = deadline(streamTimeoutMs, signal)
    for (let start = 0; start < ids.length; start += maxIdsPerRequest) {
      const part = ids.slice(start, start + maxIdsPerRequest)
      await readAll(await this.#send('blobs', { commit, profile, ids: part }, stop), framesReader(sink), signal)
    }
  }

  async files({ commit, profile }: FilesRequest, sink: Parameters<Source['files']>[1], signal: AbortSignal): Promise<void> {
    const response = await this.#send('files', { commit, profile }, deadline(streamTimeoutMs, signal))
    await readAll(response, fileFramesReader(sink), signal)
  }

  /**
   * Settles with the head of a 200. The server drops idle connections, so a reset of a reused one is retried immediately. A 429 means that
   * the server is busy with other agents: this one returns at the given time, which is not a failure; nor is a connection that is closed
   * unread.
   */
  async #send(route: DeliveryRoute, body: object, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, clock } = this.#options
    const text = JSON.stringify(body)
    const queuedUntilMs = clock.monotonicMs() + longestQueueMs
    let [resets, unavailable, answers] = [0, 0, 0]
    for (;;) {
      const token = await this.#options.token()
      const { response, reused, error } = await send(
        { url: `${url.replace(/\/+$/, '')}${routePath(this.#options, route)}`, agent: this.#agent, token, text, idleMs: headTimeoutMs },
        signal,
      )
      if (response !== undefined) {
        if (response.statusCode === 200) return response
        answers += 1
        const problem = decodeProblem(response.statusCode ?? 0, (await readText(response, maxProblemBytes)) ?? '')
        const isQueued = response.statusCode === 429 && clock.monotonicMs() < queuedUntilMs
        const isTriedAgain = response.statusCode === 503 && (unavailable += 1) <= maxUnavailable
        if (!isQueued && !isTriedAgain) throw problem
        await clock.wait(waitMs(response) * (0.5 + clock.random()), signal)
        continue
      }
      signal.throwIfAborted()
      if (!isReset(error)) throw new Fault('DeliveryUnreachable', `${url}: ${causeOf(error)}`, { cause: error })
      if (clock.monotonicMs() >= queuedUntilMs) throw new Fault('TooManyRequests', neverServed(url, answers > 0), { cause: error })
      if (!reused) await clock.wait(Math.min((resets += 1) * resetWaitMs.first, resetWaitMs.most) * (0.5 + clock.random()), signal)
    }
  }
}

async function readAll(response: IncomingMessage, reader: FramesReader, signal: AbortSignal): Promise<void> {
  const take = (chunk: Buffer): void => {
    try {
      reader.take(chunk)
    } catch (error) {
      response.destroy(error as Error)
    }
  }
  // Not an iteration, which creates promises for each of a thousand chunks.
  response.on('data', take)
  try {
    await finished(response)
  } catch (error) {
    throw streamFault(error, signal)
  } finally {
    // A kept-alive connection references the answer for which it was opened, and everything read from it.
    response.off('data', take)
  }
  if (!reader.ended()) throw new Fault('DeliveryFailed', 'the response ended early')
}

function neverServed(url: string, hasAnswered: boolean): string {
  const minutes = longestQueueMs / 60_000
  if (hasAnswered) return `${url} has been at capacity for ${minutes} minutes serving other agents`
  return `${url} closed every connection for ${minutes} minutes: it is at its limit of connections, or a firewall or service mesh in between closes them`
}

/** The server's Retry-After, within bounds. */
function waitMs({ headers }: IncomingMessage): number {
  const seconds = Number(headers['retry-after'])
  return Math.min(Math.max(Number.isFinite(seconds) ? seconds : 1, 0.2), longestWaitSeconds) * 1000
}
