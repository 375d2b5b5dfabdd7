/**
 * Standard Webhooks (https://www.standardwebhooks.com), GitLab's signing tokens among them: a MAC over id, time and body, so that a
 * delivery that was overheard is of no use five minutes later. Pure but for the hashing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Headers } from '../payload/headers.ts'

/** What the specification's own libraries allow a sender's clock to be off. */
const toleranceSeconds = 5 * 60
/** Bounds what one call may cost. */
const maxSignatures = 16

/** `end`, once after the last piece: whether one of the signatures is by one of the keys, and its time near `now`. */
export type StandardProving = { update(piece: Uint8Array): void; end(now: Temporal.Instant): boolean }

/** Begins to prove a call by Standard Webhooks; the body is taken piece by piece as it comes. */
export function beginStandard(headers: Headers, keys: readonly string[]): StandardProving {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const given = signatures
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((signature) => macOf(signature) ?? [])
  const isComplete = id !== '' && /^\d{1,12}$/.test(time) && given.length > 0
  const hashes = isComplete ? keys.map((key) => createHmac('sha256', bytesOf(key)).update(`${id}.${time}.`)) : []
  return {
    update(piece) {
      for (const hash of hashes) hash.update(piece)
    },
    end(now) {
      const macs = hashes.map((hash) => hash.digest())
      if (Math.abs(now.epochMilliseconds / 1000 - Number(time)) > toleranceSeconds) return false
      return macs.filter((mac) => given.filter((one) => timingSafeEqual(one, mac)).length > 0).length > 0
    },
  }
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
