/**
 * Seals data for storage in a browser, which can neither read nor change it: JSON, encrypted and authenticated (JWE, RFC 7516, A256GCM) with a key
 * that every replica has. No replica stores a session.
 */
import { createHash, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Temporal } from '../../platform/temporal.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** The maximum size of a cookie in browsers, including name and attributes (RFC 6265bis, 5.7), minus these. */
const maxSealed = 3_800
const maxOpened = 64 * 1024

/** Seals with the first key; undefined if the result does not fit into a cookie. Throws without a key. */
export async function seal(keys: readonly Uint8Array[], content: object, until: Temporal.Instant): Promise<string | undefined> {
  const [key] = keys
  if (key === undefined) throw new Error('nothing is sealed without a key')
  // A list of groups is long and compresses well.
  const text = await deflate(JSON.stringify({ until: until.epochMilliseconds, content }))
  const sealed = await new CompactEncrypt(text).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key)
  return sealed.length > maxSealed ? undefined : sealed
}

/** The content that one of the keys sealed, until it expires; undefined for anything else. */
export async function unseal(keys: readonly Uint8Array[], sealed: string | undefined, now: Temporal.Instant): Promise<unknown> {
  if (sealed === undefined || sealed === '' || sealed.length > maxSealed) return undefined
  for (const key of keys) {
    try {
      const { plaintext } = await compactDecrypt(sealed, key, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      })
      const text = await inflate(plaintext, { maxOutputLength: maxOpened })
      const { until, content } = JSON.parse(text.toString('utf8')) as { until: number; content: unknown }
      return now.epochMilliseconds < until ? content : undefined
    } catch {
      // Sealed with another key, or invalid.
    }
  }
  return undefined
}

/** Browsers accept a cookie with this prefix only over HTTPS and for this host (RFC 6265bis, 4.1.3.2). */
const prefix = '__Host-cluster-sync-login-'
const names = new RegExp(`^${prefix}[A-Za-z0-9_-]{16}$`)
const digestLength = 16

/** Maximum number of pending logins, as when a browser restores several windows; each cookie is sent with every request. */
const maxAttempts = 4
/** Together with a session cookie of maximum size they fit into the 8 KiB that proxies allow for the header (nginx: large_client_header_buffers). */
const maxCharacters = 3_600

/** The cookie of the attempt with this `state`, which the provider returns. */
export function attemptCookie(state: string): string {
  return `${prefix}${createHash('sha256').update(state).digest('base64url').slice(0, digestLength)}`
}

/**
 * The attempts to delete so that one more of `length` characters fits: the oldest, which a browser sends first (RFC 6265bis, 5.8.3).
 * `cookies`: by name, in the order received.
 */
export function surplusAttempts(cookies: Readonly<Record<string, string>>, length: number): string[] {
  const begun = Object.entries(cookies).filter(([name]) => names.test(name))
  let characters = begun.reduce((sum, [name, value]) => sum + name.length + value.length, prefix.length + digestLength + length)
  let count = begun.length + 1
  return begun.flatMap(([name, value]) => {
    if (count <= maxAttempts && characters <= maxCharacters) return []
    count -= 1
    characters -= name.length + value.length
    return [name]
  })
}

const keyBytes = 32

/**
 * `secret`: as strong as a random text of at least 16 characters. `place`: separates installations that share a secret, so that one cannot read what
 * another sealed. Returns 32 bytes.
 */
export function keyFrom(secret: string, purpose: 'form' | 'session' | 'login', place = ''): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'cluster-sync status page', `${purpose}${place}`, keyBytes))
}
