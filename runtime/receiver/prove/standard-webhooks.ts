/**
 * Standard Webhooks (https://www.standardwebhooks.com), which GitLab's signing tokens follow: a MAC over id, time and body, so that a recorded
 * call cannot be replayed five minutes later. Pure, except for the hashing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Headers } from '../payload/headers.ts'

/** How far a sender's clock may be off; the specification's own libraries allow as much. */
const toleranceSeconds = 5 * 60
/** How many signatures of one call are checked, which bounds its cost. */
const maxSignatures = 16

/** `end`, to be called once after the last piece: whether one of the keys made one of the signatures, and its time is near `now`. */
export type StandardProving = { update(piece: Uint8Array): void; end(now: Temporal.Instant): boolean }

/** Begins to authenticate a call; its body is passed piece by piece as it arrives. */
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

/** After `whsec_` a key is base64; in any other form its own bytes count, as with GitLab and others. */
function bytesOf(key: string): Buffer {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(key)?.[1]
  return encoded === undefined ? Buffer.from(key) : Buffer.from(encoded, 'base64')
}

/** Only `v1`: `v1a` is made with an asymmetric key, which no configuration holds. */
function macOf(signature: string): Buffer | undefined {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}
