/**
 * Unverified service account tokens: of a pod for delivery, and forged by a caller who knows their format.
 */
import { deliveryToken } from '../../runtime/api/names.ts'

/** A token of pod `gw-0` in namespace `plant`, with the given claims replaced. */
export function podToken(claims: Readonly<Record<string, unknown>> = {}, signature = 'real'): string {
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const payload = {
    aud: [deliveryToken.audience],
    exp: 4_000_000_000,
    'kubernetes.io': { namespace: 'plant', pod: { name: 'gw-0', uid: 'u' } },
    ...claims,
  }
  return `${encoded({ alg: 'RS256' })}.${encoded(payload)}.${signature}`
}

const forged = 'forged'

export function madeUpToken(number: number, claims: Readonly<Record<string, unknown>> = {}): string {
  return podToken({ ...claims, jti: String(number) }, forged)
}

export function isMadeUp(token: string): boolean {
  return token.endsWith(`.${forged}`)
}
