/**
 * Whose token is this? Only tokens that are bound to a pod and made for our audience count (kubernetes.md section 2).
 */
import * as v from 'valibot'
import type { Kube } from './client.ts'

export type TokenReview =
  { kind: 'pod'; namespace: string; pod: string; uid: string; serviceAccount: string } | { kind: 'refused'; why: string }

const one = v.tuple([v.pipe(v.string(), v.minLength(1))])
const answer = v.object({
  status: v.object({
    authenticated: v.optional(v.boolean(), false),
    audiences: v.optional(v.array(v.string()), []),
    error: v.optional(v.string()),
    user: v.optional(
      v.object({
        username: v.optional(v.string(), ''),
        extra: v.optional(
          v.looseObject({
            'authentication.kubernetes.io/pod-name': v.optional(one),
            'authentication.kubernetes.io/pod-uid': v.optional(one),
          }),
        ),
      }),
    ),
  }),
})

/** Throws ApiUnavailable, Forbidden. */
export async function reviewToken(kube: Pick<Kube, 'post'>, token: string, audience: string, signal: AbortSignal): Promise<TokenReview> {
  if (token === '') return { kind: 'refused', why: 'there is no token' }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: [audience] } }
  const parsed = v.safeParse(answer, await kube.post('/apis/authentication.k8s.io/v1/tokenreviews', body, signal))
  if (!parsed.success) return { kind: 'refused', why: 'the API server answered in a way that is not understood' }
  const { authenticated, audiences, error, user } = parsed.output.status
  if (!authenticated)
    return { kind: 'refused', why: error === undefined ? 'the token is not valid' : 'the token is not valid for this audience' }
  if (!audiences.includes(audience)) return { kind: 'refused', why: 'the token is not for this audience' }
  const [pod] = user?.extra?.['authentication.kubernetes.io/pod-name'] ?? []
  const [uid] = user?.extra?.['authentication.kubernetes.io/pod-uid'] ?? []
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.username ?? '') ?? []
  if (pod === undefined || uid === undefined || namespace === undefined || serviceAccount === undefined) {
    return { kind: 'refused', why: 'the token is not bound to a pod' }
  }
  return { kind: 'pod', namespace, pod, uid, serviceAccount }
}
