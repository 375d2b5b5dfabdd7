/**
 * Who may read the metrics: the API server says whose token it is (TokenReview) and whether that user may get /metrics
 * (SubjectAccessReview). Answers are kept for a while, as Prometheus asks with the same token each time.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { parseReview, type PostReview, reviewToken } from '../kube/token-review.ts'
import type { MetricsAccess } from '../metrics/app.ts'

/** Milliseconds; those of Kubernetes' own delegating authorisers, but for the first, which bounds how long a revoked token lives. */
const keptMs = { allowed: 60_000, forbidden: 30_000, unauthenticated: 10_000 } as const satisfies Record<MetricsAccess, number>
/** So many tokens are remembered at most; the oldest goes first. */
const maxKept = 256

const reviewedAccess = v.looseObject({ status: v.looseObject({ allowed: v.optional(v.boolean(), false) }) })

export type AuthoriserDeps = {
  post: PostReview
  clock: Pick<Clock, 'monotonicMs'>
}

/** The result throws ApiUnavailable and what else `post` throws; such an answer is not kept. */
export function createMetricsAuthoriser({ post, clock }: AuthoriserDeps): (token: string) => Promise<MetricsAccess> {
  const kept = new Map<string, { access: MetricsAccess; untilMs: number }>()
  return async (token) => {
    const key = createHash('sha256').update(token).digest('base64')
    const known = kept.get(key)
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.access
    const access = await review(post, token)
    kept.delete(key)
    kept.set(key, { access, untilMs: clock.monotonicMs() + keptMs[access] })
    const [oldest] = kept.keys()
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    return access
  }
}

async function review(post: PostReview, token: string): Promise<MetricsAccess> {
  const user = await reviewToken(post, token)
  if (user === undefined) return 'unauthenticated'
  const access = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: user.username,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  }
  const answer = parseReview(reviewedAccess, await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', access))
  return answer.status.allowed ? 'allowed' : 'forbidden'
}
