/**
 * Receives capture offers: the leading replica handles them, and any other one forwards them to it.
 */
import { Fault } from '../../platform/fault.ts'
import type { BodyLimits } from '../../http/body.ts'
import type { AskLeader } from './forward.ts'
import { decodeCaptureAnswer } from '../protocol/frames.ts'
import { type CaptureAnswer, captureBounds, type CaptureOffer } from '../protocol/protocol.ts'

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

/** Throws PayloadMalformed and PayloadTooLarge for changes that are not permitted, DeliveryUnreachable without a reachable leader. */
export async function takeOffer(
  leader: (() => AskLeader | undefined) | undefined,
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
