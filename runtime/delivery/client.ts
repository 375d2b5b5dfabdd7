/**
 * The agent's side of delivery: a `Source`, as a mirror in the same process is one, over TLS with the pod's token.
 */
import type { IncomingMessage } from 'node:http'
import { Agent } from 'node:https'
import { finished } from 'node:stream/promises'
import { type Clock, deadline } from '../clock.ts'
import { Fault } from '../fault.ts'
import { causeOf, readText } from '../http/client.ts'
import { isReset, send, streamFault } from './call.ts'
import { type FramesReader, framesReader } from './content-frames.ts'
import { fileFramesReader } from './file-frames.ts'
import { changesReader, decodeCaptureAnswer, decodeGatewayAccess, decodeProblem, maxIdsPerRequest } from './frames.ts'
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
} from './protocol.ts'

/** The controller, how it is trusted, and the GatewaySync (`namespace`, `name`) that is asked for. */
export type DeliveryClientOptions = {
  /** `https://host:port`. */
  url: string
  /** The authority that the controller's certificate must come from, PEM. */
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
 * agent queues when it is told to come back, and when its connection is closed without an answer: that is what a controller does with new ones
 * that has reached its limit of connections.
 */
const longestQueueMs = 300_000
/** How often a 503 is retried: what the controller cannot do now it often can a moment later. After that its reason is reported. */
const mostUnavailable = 3
/** How long an agent waits after its connection was closed: a second more each time. A thousand that come at once are served within a minute. */
const resetWaitMs = { first: 1_000, most: 4_000 }
const longestWaitSeconds = 15
/** A Secret holds a megabyte. */
const maxAccessBytes = 2 * 1024 * 1024

/** What an agent asks its controller for. */
export type DeliveryClient = Source & {
  /** Throws SecretNotFound and what `Source` throws. */
  gateway(signal: AbortSignal): Promise<GatewayAccess>
  /** Tells of what was changed on the gateway. */
  capture(offer: CaptureOffer, signal: AbortSignal): Promise<CaptureAnswer>
}

/**
 * A client for the content of one GatewaySync. Its calls throw DeliveryUnauthorised, DeliveryUnreachable, DeliveryFailed, TooManyRequests and
 * the reasons that delivery answers with.
 */
export function deliveryClient(options: DeliveryClientOptions): DeliveryClient {
  const { url, caBundle, clock } = options
  const agent = new Agent({ ca: caBundle, keepAlive: true, maxSockets: 2, minVersion: 'TLSv1.2' })

  /**
   * Settles with the head of a 200. The server drops idle connections, so a reset of a reused one is retried at once. A 429 means that the
   * server is busy with other agents: this one returns when it was told to, which is no failure; nor is a connection that is closed unread.
   */
  const ask = async (route: DeliveryRoute, body: object, signal: AbortSignal): Promise<IncomingMessage> => {
    const text = JSON.stringify(body)
    const queuedUntilMs = clock.monotonicMs() + longestQueueMs
    let [resets, unavailable, answers] = [0, 0, 0]
    for (;;) {
      const token = await options.token()
      const { response, reused, error } = await send(
        { url: `${url.replace(/\/+$/, '')}${routePath(options, route)}`, agent, token, text, idleMs: headTimeoutMs },
        signal,
      )
      if (response !== undefined) {
        if (response.statusCode === 200) return response
        answers += 1
        const problem = decodeProblem(response.statusCode ?? 0, (await readText(response, maxProblemBytes)) ?? '')
        const isQueued = response.statusCode === 429 && clock.monotonicMs() < queuedUntilMs
        const isTriedAgain = response.statusCode === 503 && (unavailable += 1) <= mostUnavailable
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

  return {
    async gateway(signal) {
      const response = await ask('gateway', {}, signal)
      return decodeGatewayAccess((await readText(response, maxAccessBytes)) ?? '')
    },
    async capture(offer, signal) {
      const response = await ask('capture', offer, signal)
      return decodeCaptureAnswer((await readText(response, maxProblemBytes)) ?? '')
    },
    async *changes(request: ChangesRequest, signal) {
      const stop = deadline(streamTimeoutMs, signal)
      const response = await ask('changes', request, stop)
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
    },
    async blobs({ commit, profile, ids }: BlobsRequest, sink, signal) {
      const stop = deadline(streamTimeoutMs, signal)
      for (let start = 0; start < ids.length; start += maxIdsPerRequest) {
        const part = ids.slice(start, start + maxIdsPerRequest)
        await readAll(await ask('blobs', { commit, profile, ids: part }, stop), framesReader(sink), signal)
      }
    },
    async files({ commit, profile }: FilesRequest, sink, signal) {
      const response = await ask('files', { commit, profile }, deadline(streamTimeoutMs, signal))
      await readAll(response, fileFramesReader(sink), signal)
    },
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
  // Not an iteration, which makes promises for each of a thousand chunks.
  response.on('data', take)
  try {
    await finished(response)
  } catch (error) {
    throw streamFault(error, signal)
  } finally {
    // A connection that is kept holds the answer for which it was opened, and with it all that was read from it.
    response.off('data', take)
  }
  if (!reader.ended()) throw new Fault('DeliveryFailed', 'the answer ended early')
}

function neverServed(url: string, hasAnswered: boolean): string {
  const minutes = longestQueueMs / 60_000
  if (hasAnswered) return `${url} has had no place for ${minutes} minutes: it serves as many others as it can`
  return `${url} closed every connection for ${minutes} minutes: it serves as many others as it can, or what stands between lets none through`
}

/** What the server asks for, within bounds. */
function waitMs({ headers }: IncomingMessage): number {
  const seconds = Number(headers['retry-after'])
  return Math.min(Math.max(Number.isFinite(seconds) ? seconds : 1, 0.2), longestWaitSeconds) * 1000
}
