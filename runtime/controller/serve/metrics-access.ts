/**
 * Authorizes readers of the metrics by TokenReview and a SubjectAccessReview of `get /metrics`. Answers are cached briefly, because
 * Prometheus sends the same token each time.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../../platform/clock.ts'
import { parseReview, type PostReview, reviewToken } from '../../kube/token-review.ts'
import type { MetricsAccess } from '../../telemetry/metrics/app.ts'

/** Milliseconds. Those of Kubernetes' own delegating authorizers, except the first, which bounds how long a revoked token works. */
const keptMs = { allowed: 60_000, forbidden: 30_000, unauthenticated: 10_000 } as const satisfies Record<MetricsAccess, number>
/** Maximum number of cached tokens; the oldest is dropped first. */
const maxKept = 256

const reviewedAccess = v.looseObject({ status: v.looseObject({ allowed: v.optional(v.boolean(), false) }) })

/** Collaborators of metrics authorization. */
export type AuthorizerDeps = {
  post: PostReview
  clock: Pick<Clock, 'monotonicMs'>
}

/** Returns the `authorize` of the metrics app. It throws ApiUnavailable and what `post` throws; failures are not cached. */
export function createMetricsAuthorizer({ post, clock }: AuthorizerDeps): (token: string) => Promise<MetricsAccess> {
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
