/**
 * Authorizes callers of the content server: a pod that follows the requested GatewaySync. The API server reviews each token once; from then
 * on only the pod is checked. Obviously wrong tokens are rejected without a review, and concurrent reviews are limited, so that forged
 * tokens do not delay others.
 */
import { createHash } from 'node:crypto'
import { type Clock, deadline } from '../../platform/clock.ts'
import type { Authorization, Caller } from '../../content/server/server.ts'
import { deliveryToken } from '../../api/names.ts'
import { createLimits } from '../../http/limits.ts'
import type { Kube } from '../../kube/client.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { reviewPodToken, readClaims, type TokenClaims } from '../../kube/token-review.ts'
import { podType } from '../../kube/types.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { projectPod } from '../../reconcile/store/records.ts'

/** Collaborators of agent authorization. */
export type AuthorizerDeps = {
  /** For reviews: a client with its own connections. */
  kube: Pick<Kube, 'get' | 'post'>
  store: Pick<Store, 'pod' | 'syncOfPod'>
  /** The namespaces of this installation; empty: all. */
  watched: readonly string[]
  clock: Clock
  /**
   * How many reviewed tokens are cached. Default: those of the largest fleet, even while each agent has an old and a new one. Beyond that,
   * the namespace with the most loses its own.
   */
  maxConfirmed?: number
}

/**
 * A fleet of a thousand agents that starts at the same time is authenticated in five seconds. Twenty wrong tokens in ten seconds are not an
 * accident.
 */
export const reviewLimits = { perSecond: 200, failuresPerPeer: 20 } as const
/** Concurrent reviews; each takes the API server about 2 ms. One client address may be that of a whole node. */
const reviews = { total: 8, perKey: 4, waitMs: 5_000, maxWaitingInAll: 256 } as const
const reviewTimeoutMs = 5_000
/** Tolerance for an expired token: clocks differ, and the API server's decides. */
const skewMs = 600_000
/**
 * Maximum time that a reviewed token is trusted: agents' tokens last an hour, and a wrong clock or a longer token must not make it days.
 */
const longestKeptMs = 3_600_000
/** How long a rejection is cached: a pod may begin to follow a GatewaySync right after a rejected call. */
const refusalKeptMs = 5_000
const defaultMaxConfirmed = 10_000
const maxRefused = 1_000

type Bearer = { namespace: string; pod: string; uid: string }
type Refusal = Extract<Authorization, { kind: 'refused' }>

/** Authorizes the calls of the content server. */
export class Authorizer {
  readonly #deps: AuthorizerDeps
  readonly #confirmed: FairCache<Bearer>
  readonly #refusals: FairCache<Refusal>
  readonly #runningReviews = new Map<string, Promise<Confirmed>>()
  readonly #limits = createLimits(reviewLimits)
  readonly #limiter: FairLimiter

  constructor(deps: AuthorizerDeps) {
    const { clock, maxConfirmed = defaultMaxConfirmed } = deps
    this.#deps = deps
    this.#confirmed = new FairCache({ max: maxConfirmed, ttlMs: longestKeptMs, clock })
    this.#refusals = new FairCache({ max: maxRefused, ttlMs: refusalKeptMs, clock })
    this.#limiter = new FairLimiter({ ...reviews, clock })
  }

  /** Throws ApiUnavailable. */
  async authorize(caller: Caller, signal: AbortSignal): Promise<Authorization> {
    const { watched, clock } = this.#deps
    const { namespace, name, token, peer } = caller
    const key = createHash('sha256').update(token).digest('base64')
    const refusalKey = `${key} ${namespace}/${name}`
    const earlier = this.#refusals.get(refusalKey)
    if (earlier !== undefined) return await this.#refuse(peer, refusalKey, earlier)
    // The controller has no permission to read pods in other namespaces.
    if (watched.length > 0 && !watched.includes(namespace))
      return await this.#refuse(peer, refusalKey, refused(`this installation does not manage namespace "${namespace}"`))
    let bearer = this.#confirmed.get(key)
    if (bearer === undefined) {
      const claims = readClaims(token)
      const wrong = whyWrong(claims, namespace, clock)
      if (wrong !== undefined || claims === undefined) return await this.#refuse(peer, refusalKey, wrong ?? unreadable)
      const answer = await this.#confirmOnce(token, key, claims, peer)
      if (answer.kind === 'refused') return await this.#refuse(peer, refusalKey, answer)
      if (answer.kind === 'busy') return answer
      ;({ bearer } = answer)
    }
    const authorization = await this.#authorizePod(bearer, caller, signal)
    return authorization.kind === 'refused' ? await this.#refuse(peer, refusalKey, authorization) : authorization
  }

  /** Concurrent calls with the same token share one review. */
  #confirmOnce(token: string, key: string, claims: TokenClaims, peer: string): Promise<Confirmed> {
    const running = this.#runningReviews.get(key) ?? this.#confirm(token, key, claims, peer).finally(() => this.#runningReviews.delete(key))
    this.#runningReviews.set(key, running)
    return running
  }

  async #confirm(token: string, key: string, claims: TokenClaims, peer: string): Promise<Confirmed> {
    const { kube, clock } = this.#deps
    const all = await this.#limits.call(peer)
    if (all.kind === 'over') return { kind: 'busy', retryAfterSeconds: all.retryAfterSeconds }
    const slot = await this.#limiter.acquire({ tenant: peer })
    if (slot === undefined) return { kind: 'busy', retryAfterSeconds: 1 }
    try {
      const review = await reviewPodToken((path, body) => kube.post(path, body, deadline(reviewTimeoutMs)), token, deliveryToken.audience)
      if (review.kind === 'refused') return { kind: 'refused', status: 401, message: review.why }
      const bearer = { namespace: review.namespace, pod: review.pod, uid: review.uid }
      const ttlMs = Math.min(claims.expiresAtMs - clock.now().epochMilliseconds, longestKeptMs)
      if (ttlMs > 0) this.#confirmed.set(bearer.namespace, key, bearer, { ttlMs })
      return { kind: 'bearer', bearer }
    } finally {
      slot.release()
    }
  }

  async #authorizePod({ namespace, pod: name, uid }: Bearer, caller: Caller, signal: AbortSignal): Promise<Authorization> {
    const { kube, store } = this.#deps
    if (namespace !== caller.namespace) return refused(`the token belongs to namespace "${namespace}"`)
    // A pod may call before the watch has delivered it, or the deletion of its predecessor of the same name.
    const known = store.pod(namespace, name)
    const pod = known?.uid === uid ? known : await readPod(kube, namespace, name, deadline(reviewTimeoutMs, signal))
    if (pod === undefined || pod.uid !== uid) return refused(`pod "${name}" no longer exists, or requests no agent`)
    if (store.syncOfPod(pod) !== caller.name) return refused(`pod "${name}" does not follow GatewaySync "${caller.name}"`)
    return { kind: 'allowed', pod: `${namespace}/${name}` }
  }

  async #refuse(peer: string, refusalKey: string, refusal: Refusal): Promise<Authorization> {
    if (this.#refusals.get(refusalKey) === undefined) this.#refusals.set(peer, refusalKey, refusal)
    const { kind } = await this.#limits.failure(peer)
    return kind === 'over' ? { kind: 'busy', retryAfterSeconds: 1 } : refusal
  }
}

type Confirmed = { kind: 'bearer'; bearer: Bearer } | Exclude<Authorization, { kind: 'allowed' }>

const unreadable: Refusal = { kind: 'refused', status: 401, message: 'the call has no token of a pod' }

/** Returns why a token cannot be valid, by its own unverified claims. */
function whyWrong(claims: TokenClaims | undefined, namespace: string, clock: Clock): Refusal | undefined {
  if (claims === undefined) return unreadable
  if (!claims.audiences.includes(deliveryToken.audience)) return { ...unreadable, message: 'the token is not for this audience' }
  if (claims.expiresAtMs + skewMs < clock.now().epochMilliseconds) return { ...unreadable, message: 'the token has expired' }
  return claims.namespace === namespace ? undefined : refused(`the token belongs to namespace "${claims.namespace}"`)
}

async function readPod(kube: AuthorizerDeps['kube'], namespace: string, name: string, signal: AbortSignal) {
  const object = await kube.get(podType, { namespace, name }, signal)
  return object === undefined ? undefined : projectPod(object)
}

function refused(message: string): Refusal {
  return { kind: 'refused', status: 403, message }
}
