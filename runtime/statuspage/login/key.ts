/**
 * Derives independent keys from one secret, one for each purpose (HKDF, RFC 5869). Pure.
 */
import { hkdfSync } from 'node:crypto'

const keyBytes = 32

/**
 * `secret`: as strong as a random text of at least 16 characters. `place`: separates installations that share a secret, so that one cannot read what
 * another sealed. Returns 32 bytes.
 */
export function keyFrom(secret: string, purpose: 'form' | 'session' | 'login', place = ''): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'cluster-sync status page', `${purpose}${place}`, keyBytes))
}
