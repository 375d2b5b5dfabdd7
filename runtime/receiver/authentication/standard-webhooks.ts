/**
 * Verifies Standard Webhooks (https://www.standardwebhooks.com), which GitLab's signing tokens follow: a MAC over id, time and body, so
 * that a recorded call cannot be replayed after five minutes. Pure, except for the hashing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Temporal } from '../../platform/temporal.ts'
import type { Headers } from '../payload/headers.ts'

/** Tolerated difference of a sender's clock; the specification's own libraries allow as much. */
const toleranceSeconds = 5 * 60
/** Maximum signatures checked per call, which bounds its cost. */
const maxSignatures = 16

/**
 * `end`, called once after the last piece: whether a key made one of the signatures, and its time is near `now`. `hashes`: number of hashes
 * per piece. `dropHashes`: invalidates all signatures.
 */
export type StandardAuthenticator = {
  hashes: number
  dropHashes(): void
  update(piece: Uint8Array): void
  end(now: Temporal.Instant): boolean
}

/** Begins to authenticate a call; its body is passed piece by piece as it arrives. */
export function beginStandard(headers: Headers, keys: readonly string[]): StandardAuthenticator {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const given = signatures
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((signature) => macOf(signature) ?? [])
  const isComplete = id !== '' && /^\d{1,12}$/.test(time) && given.length > 0
  const hashes = isComplete ? keys.map((key) => createHmac('sha256', bytesOf(key)).update(`${id}.${time}.`)) : []
  return {
    hashes: hashes.length,
    dropHashes() {
      hashes.length = 0
    },
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

/** After `whsec_` a key is base64; any other form is used as is, as GitLab and others do. */
function bytesOf(key: string): Buffer {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(key)?.[1]
  return encoded === undefined ? Buffer.from(key) : Buffer.from(encoded, 'base64')
}

/** Only `v1`: `v1a` uses an asymmetric key, which no configuration holds. */
function macOf(signature: string): Buffer | undefined {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}
