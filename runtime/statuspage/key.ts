/**
 * Keys that are made from one secret, each for one purpose, so that none of them says anything of another (HKDF, RFC 5869). Pure.
 */
import { hkdfSync } from 'node:crypto'

const keyBytes = 32

/**
 * `secret`: with the strength of a random text of 16 characters at least. `place`: what the key is for besides its purpose, so that what one
 * installation has sealed opens nothing of another that has the same secret. Returns 32 bytes.
 */
export function keyFrom(secret: string, purpose: 'form' | 'session' | 'login', place = ''): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'cluster-sync status page', `${purpose}${place}`, keyBytes))
}
