/**
 * Reads a token's claims before the API server has verified it, to reject an obviously wrong token without a TokenReview.
 */
import * as v from 'valibot'
import { jsonOrUndefined } from '../platform/text/json.ts'

/** The claims of a ServiceAccount's projected token that is bound to a pod; `pod` is its name. */
export type TokenClaims = { audiences: readonly string[]; expiresAtMs: number; namespace: string; pod: string; uid: string }

/** ServiceAccount tokens have one to two thousand characters. */
const maxCharacters = 8 * 1024

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(253))
const claims = v.looseObject({
  aud: v.union([v.pipe(v.array(v.string()), v.maxLength(32)), v.string()]),
  exp: v.pipe(v.number(), v.finite()),
  'kubernetes.io': v.looseObject({ namespace: text, pod: v.looseObject({ name: text, uid: text }) }),
})

/** Undefined: not a JWT with these claims. Does not check the signature. Never throws. */
export function readClaims(token: string): TokenClaims | undefined {
  if (token.length > maxCharacters) return undefined
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? []
  const parsed =
    payload === undefined ? undefined : v.safeParse(claims, jsonOrUndefined(Buffer.from(payload, 'base64url').toString('utf8')))
  if (parsed === undefined || !parsed.success) return undefined
  const { aud, exp, 'kubernetes.io': kubernetes } = parsed.output
  return {
    audiences: typeof aud === 'string' ? [aud] : aud,
    expiresAtMs: exp * 1000,
    namespace: kubernetes.namespace,
    pod: kubernetes.pod.name,
    uid: kubernetes.pod.uid,
  }
}
