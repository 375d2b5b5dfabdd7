/**
 * What a token says of itself, before anybody has confirmed it: enough to refuse what cannot be right without asking the API server.
 */
import * as v from 'valibot'
import { jsonOrUndefined } from '../json.ts'

/** Of a projected token of a ServiceAccount that is bound to a pod. */
export type TokenClaims = { audiences: readonly string[]; expiresAtMs: number; namespace: string; pod: string; uid: string }

/** Tokens of ServiceAccounts have one to two thousand characters. */
const maxCharacters = 8 * 1024

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(253))
const claims = v.looseObject({
  aud: v.union([v.pipe(v.array(v.string()), v.maxLength(32)), v.string()]),
  exp: v.pipe(v.number(), v.finite()),
  'kubernetes.io': v.looseObject({ namespace: text, pod: v.looseObject({ name: text, uid: text }) }),
})

/** Undefined: no such token. Never throws. */
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
