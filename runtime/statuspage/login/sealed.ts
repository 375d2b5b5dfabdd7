/**
 * What a browser keeps for us without being able to read or change it: JSON, encrypted and signed in one (JWE, RFC 7516, A256GCM) under a key
 * that every replica has. So no replica keeps a session.
 */
import { CompactEncrypt, compactDecrypt } from 'jose'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** What browsers keep of one cookie, name and attributes included (RFC 6265bis, 5.7), with room for these. */
const maxSealed = 3_800
const maxOpened = 64 * 1024

/** Sealed by the first key; undefined where it is more than a cookie holds. Throws without a key. */
export async function seal(keys: readonly Uint8Array[], content: object, until: Temporal.Instant): Promise<string | undefined> {
  const [key] = keys
  if (key === undefined) throw new Error('nothing is sealed without a key')
  // A list of groups is long and much the same.
  const text = await deflate(JSON.stringify({ until: until.epochMilliseconds, content }))
  const sealed = await new CompactEncrypt(text).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key)
  return sealed.length > maxSealed ? undefined : sealed
}

/** What one of the keys has sealed, while it holds; undefined for everything else. */
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
      // Another key's, or nobody's.
    }
  }
  return undefined
}
