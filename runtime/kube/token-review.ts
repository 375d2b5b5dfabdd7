/**
 * Authenticates tokens by TokenReview. An agent's token is accepted only if it is bound to a pod and issued for the expected audience.
 */
import * as v from 'valibot'
import { Fault } from '../platform/fault.ts'
import { jsonOrUndefined } from '../platform/text/json.ts'

/** Creates a review and returns the API server's answer. */
export type PostReview = (path: string, body: unknown) => Promise<unknown>

/** The user of a token, as far as the API server returns it. */
export type ReviewedUser = {
  username: string
  uid?: string | undefined
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}

/** `uid` is the pod's. `why` is for the caller: it reveals nothing to callers without a token. */
export type PodToken =
  { kind: 'pod'; namespace: string; pod: string; uid: string; serviceAccount: string } | { kind: 'refused'; why: string }

const reviewed = v.looseObject({
  status: v.looseObject({
    authenticated: v.optional(v.boolean(), false),
    audiences: v.optional(v.array(v.string()), []),
    error: v.optional(v.string()),
    user: v.optional(
      v.looseObject({
        username: v.optional(v.string(), ''),
        uid: v.optional(v.string()),
        groups: v.optional(v.array(v.string()), []),
        extra: v.optional(v.record(v.string(), v.array(v.string())), {}),
      }),
    ),
  }),
})

/**
 * Returns the user of a token for the API server's own audience, as kubectl sends it; undefined: invalid. Throws ApiUnavailable, Forbidden.
 */
export async function reviewToken(post: PostReview, token: string): Promise<ReviewedUser | undefined> {
  const { authenticated, user } = await review(post, { token })
  return authenticated && user !== undefined && user.username !== '' ? user : undefined
}

/** Returns the pod that a token is bound to; rejected unless it was issued for `audience`. Throws ApiUnavailable, Forbidden. */
export async function reviewPodToken(post: PostReview, token: string, audience: string): Promise<PodToken> {
  if (token === '') return { kind: 'refused', why: 'there is no token' }
  const { authenticated, audiences, error, user } = await review(post, { token, audiences: [audience] })
  if (!authenticated)
    return { kind: 'refused', why: error === undefined ? 'the token is not valid' : 'the token is not valid for this audience' }
  if (!audiences.includes(audience)) return { kind: 'refused', why: 'the token is not for this audience' }
  const pod = only(user?.extra['authentication.kubernetes.io/pod-name'])
  const uid = only(user?.extra['authentication.kubernetes.io/pod-uid'])
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.username ?? '') ?? []
  if (pod === undefined || uid === undefined || namespace === undefined || serviceAccount === undefined) {
    return { kind: 'refused', why: 'the token is not bound to a pod' }
  }
  return { kind: 'pod', namespace, pod, uid, serviceAccount }
}

async function review(post: PostReview, spec: { token: string; audiences?: string[] }): Promise<v.InferOutput<typeof reviewed>['status']> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
  return parseReview(reviewed, await post('/apis/authentication.k8s.io/v1/tokenreviews', body)).status
}

/** Reads the answer to a review of any kind. Throws ApiUnavailable when it does not have the shape of `schema`. */
export function parseReview<Schema extends v.GenericSchema>(schema: Schema, document: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, document)
  if (parsed.success) return parsed.output
  throw new Fault('ApiUnavailable', 'the API server returned an unexpected response to a review')
}

/** The only value; undefined when there are several, because it is unclear which one is meant. */
function only(values: readonly string[] | undefined): string | undefined {
  return values?.length === 1 && values[0] !== '' ? values[0] : undefined
}

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

/**
 * Claims are read before the API server has verified the token, to reject an obviously wrong one without a TokenReview. Undefined: not a
 * JWT with these claims. Does not check the signature. Never throws.
 */
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
