/**
 * Forwards requests for content that this replica lacks to the leading replica, so that a git host sees one fetch per push, however many
 * replicas there are. The call carries the token of the agent, so the leader authorizes it as if the agent had called.
 */
import { Agent } from 'node:https'
import { isIP } from 'node:net'
import { causeOf, readText } from '../../http/client.ts'
import type { Log } from '../../platform/log/log.ts'
import { isReset, send, streamFault } from '../client/call.ts'
import { decodeProblem, decodeCaptureAnswer } from '../protocol/frames.ts'
import { type DeliveryRoute, routePath, type CaptureAnswer, captureBounds, type CaptureOffer } from '../protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { BodyLimits } from '../../http/body.ts'

/** An authorized call of an agent; `body` has been checked against the route's schema. */
export type Question = { namespace: string; name: string; route: DeliveryRoute; body: object; token: string }

/**
 * Returns the bytes of the leader's answer; undefined when the leader is unreachable, or rejects for a reason that may be its own.
 * Rejections that this replica would return too are thrown: UnknownBase, CommitGone, RepositoryTooLarge, TooManyRequests; for `files` also
 * ToolMissing; for `capture` also PayloadMalformed, CommitNotPublished, UnknownProfile, PayloadTooLarge.
 */
export type ForwardToLeader = (question: Question, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>

/** Marks a forwarded call, which is never forwarded again, so that calls cannot loop. */
export const forwardedHeader = 'x-cluster-sync-forwarded'

/** Replicas share a network, so a connection takes milliseconds; a node that is down does not answer at all. */
const connectMs = 1_000
/** Longer than an answer waits for its slowest reader (stream.ts). */
const idleMs = 15_000
const maxProblemBytes = 64 * 1024
const passedOn: readonly number[] = [409, 410, 422, 429]
const passedOnByRoute: Partial<Record<DeliveryRoute, readonly number[]>> = {
  // If the leader lacks a program for this answer, the caller reads the listing at once, which needs none.
  files: [...passedOn, 501],
  // Offers are only handled by the leader, so its answer is final.
  capture: [...passedOn, 400, 404, 413],
}

/** How a leader is authenticated: by the certificate's name, because it is called by its address. */
export type LeaderOptions = {
  /** The DNS name in the content server's certificate. */
  serverName: string
  /** The current CAs, PEM; they change when certificates rotate. */
  caBundle(): string
  log: Log
}

/** A client for the leader at an address, `host:port`. */
export function createForwarding({ serverName, caBundle, log }: LeaderOptions): (address: string) => ForwardToLeader {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4, minVersion: 'TLSv1.2' })
  return (address) => async (question, signal) => {
    const url = `https://${address}${routePath(question, question.route)}`
    const call = {
      url,
      agent,
      token: question.token,
      text: JSON.stringify(question.body),
      headers: { [forwardedHeader]: 'true' },
      connectMs,
      idleMs,
      tls: { servername: serverName, ca: caBundle() },
    }
    let answered = await send(call, signal)
    // The leader drops idle connections.
    if (answered.reused && isReset(answered.error)) answered = await send(call, signal)
    const { response, error } = answered
    signal.throwIfAborted()
    if (response?.statusCode === 200) return passOn(response, signal)
    const fault =
      response === undefined ? undefined : decodeProblem(response.statusCode ?? 0, (await readText(response, maxProblemBytes)) ?? '')
    const thrown = passedOnByRoute[question.route] ?? passedOn
    if (fault !== undefined && thrown.includes(response?.statusCode ?? 0)) throw fault
    const { reason, message } = fault ?? { reason: 'DeliveryUnreachable' as const, message: causeOf(error) }
    log.warn({ namespace: question.namespace, name: question.name, reason, message }, 'the leader did not serve the request')
    return undefined
  }
}

async function* passOn(response: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* response
  } catch (error) {
    throw streamFault(error, signal)
  }
}

/** Parses an address from a Lease, which others may write too: `ip:port`, or undefined for anything else. */
export function readAddress(text: string | undefined): string | undefined {
  const [, host = '', port = ''] = /^(.+):([0-9]{1,5})$/.exec(text ?? '') ?? []
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0 && Number(port) > 0 && Number(port) <= 65_535 ? text : undefined
}

/** Returns this process's `ip:port` for the Lease, IPv6 in brackets; undefined when its IP is unknown. */
export function addressOf(ip: string | undefined, port: number): string | undefined {
  const family = isIP(ip ?? '')
  return family === 0 ? undefined : family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`
}

/** An authorized call. `pod`: `namespace/name`. `isForwarded`: by another replica. */
export type AuthorizedCall = { namespace: string; name: string; pod: string; token: string; isForwarded: boolean }

/** An offer of changes: their contents in base64, each with its paths. */
export const offerLimits = {
  maxBytes: Math.ceil(captureBounds.totalBytes / 3) * 4 + 1024 * 1024,
  complexity: {
    depth: 4,
    keys: captureBounds.files * 5 + 64,
    containers: captureBounds.files + 32,
    entries: captureBounds.files * 6 + 128,
  },
} as const satisfies BodyLimits

/** Maximum size of a forwarded answer. */
const maxAnswerCharacters = 64 * 1024

/**
 * Receives a capture offer: the leading replica handles it, and any other one forwards it to it. Throws PayloadMalformed and
 * PayloadTooLarge for changes that are not permitted, DeliveryUnreachable without a reachable leader.
 */
export async function receiveOffer(
  leader: (() => ForwardToLeader | undefined) | undefined,
  own: { capture(pod: string, offer: CaptureOffer): CaptureAnswer | undefined },
  offer: CaptureOffer,
  call: AuthorizedCall,
  signal: AbortSignal,
): Promise<CaptureAnswer> {
  const answer = own.capture(call.pod.slice(call.pod.indexOf('/') + 1), offer)
  if (answer !== undefined) return answer
  const passedOn = call.isForwarded ? undefined : await leader?.()?.({ ...call, route: 'capture', body: offer }, signal)
  if (passedOn === undefined) throw new Fault('DeliveryUnreachable', 'the replica that leads cannot be reached; try again')
  let text = ''
  for await (const chunk of passedOn) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.length > maxAnswerCharacters) break
  }
  return decodeCaptureAnswer(text)
}
