/**
 * Standard Webhooks (https://www.standardwebhooks.com), GitLab's signing tokens among them: a MAC over id, time and body, so that a
 * delivery that was overheard is of no use five minutes later. Pure but for the hashing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Headers } from './call.ts'

/** What the specification's own libraries allow a sender's clock to be off. */
const toleranceSeconds = 5 * 60
/** Bounds what one call may cost. */
const maxSignatures = 16

/** Whether one of the signatures is by one of the keys, and its time near `now`. */
export function isSignedByStandard(headers: Headers, body: Uint8Array, keys: readonly string[], now: Temporal.Instant): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  if (id === undefined || id === '' || !/^\d{1,12}$/.test(time)) return false
  if (Math.abs(now.epochMilliseconds / 1000 - Number(time)) > toleranceSeconds) return false
  const given = signatures
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((signature) => macOf(signature) ?? [])
  if (given.length === 0) return false
  const wanted = keys.map((key) => createHmac('sha256', bytesOf(key)).update(`${id}.${time}.`).update(body).digest())
  return wanted.filter((mac) => given.filter((one) => timingSafeEqual(one, mac)).length > 0).length > 0
}

/** What follows `whsec_` is base64 of the key; a key in another form is its own bytes, as GitLab and others take it. */
function bytesOf(key: string): Buffer {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(key)?.[1]
  return encoded === undefined ? Buffer.from(key) : Buffer.from(encoded, 'base64')
}

/** `v1a` is of an asymmetric key, which nobody has given us. */
function macOf(signature: string): Buffer | undefined {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}
