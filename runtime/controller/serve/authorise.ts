/**
 * Whether a caller of delivery is a pod that follows the GatewaySync that it asks for. The API server confirms each token once; from then on
 * only the pod is checked. Tokens that cannot be right are refused without asking, and few others are reviewed at once, so that forged tokens
 * delay nobody.
 */
import { createHash } from 'node:crypto'
import { type Clock, deadline } from '../../clock.ts'
import type { Authorisation, Caller } from '../../delivery/server.ts'
import { deliveryToken } from '../../gatewaysync/names.ts'
import { createLimits } from '../../http/limits.ts'
import { createShares } from '../../http/shares.ts'
import type { Kube } from '../../kube/client.ts'
import { readClaims, type TokenClaims } from '../../kube/token-claims.ts'
import { reviewPodToken } from '../../kube/token-review.ts'
import { podType } from '../../kube/types.ts'
import type { Store } from '../../reconcile/store.ts'
import { projectPod } from '../../reconcile/records.ts'

/** What authorising agents works with. */
export type AuthoriserDeps = {
  /** For reviews: a client with its own connections, so that nobody else waits for one. */
  kube: Pick<Kube, 'get' | 'post'>
  store: Pick<Store, 'pod' | 'syncOfPod'>
  /** The namespaces that this installation works in; empty: all. */
  watched: readonly string[]
  clock: Clock
}

/** A fleet of a thousand agents that starts at once is confirmed in five seconds. Twenty wrong tokens in ten seconds are not an accident. */
export const reviewLimits = { perSecond: 200, failuresPerPeer: 20 } as const
/** Reviews under way; each takes the API server about 2 ms. A peer may stand for a whole node. */
const reviews = { total: 8, ofOne: 4, waitMs: 5_000, maxWaiting: 256 } as const
const reviewTimeoutMs = 5_000
/** Tolerance for an expired token: clocks differ, and the API server's decides. */
const skewMs = 600_000
/** The longest time that a confirmed token is trusted: agents' tokens last an hour, and a wrong clock or a longer token must not make it days. */
const longestKeptMs = 3_600_000
/** How long a refusal is remembered: a pod may begin to follow a GatewaySync a moment after it has asked. */
const refusalKeptMs = 5_000
/** How many confirmed tokens are remembered: those of the largest fleet, even while each agent has an old and a new one. */
const maxConfirmed = 10_000
const maxRefused = 1_000

type Bearer = { namespace: string; pod: string; uid: string }
type Refusal = Extract<Authorisation, { kind: 'refused' }>

/** Returns the `authorise` of delivery's server. It throws ApiUnavailable. */
export function createAuthoriser({ kube, store, watched, clock }: AuthoriserDeps) {
  const confirmed = createMemory<Bearer>(clock, maxConfirmed)
  const refusals = createMemory<Refusal>(clock, maxRefused)
  const asking = new Map<string, Promise<Confirmed>>()
  const limits = createLimits(reviewLimits)
  const { take } = createShares(reviews)

  const confirm = async (token: string, key: string, claims: TokenClaims, peer: string): Promise<Confirmed> => {
    const all = await limits.call(peer)
    if (all.kind === 'over') return { kind: 'busy', retryAfterSeconds: all.retryAfterSeconds }
    const giveBack = await take(1, peer)
    if (giveBack === undefined) return { kind: 'busy', retryAfterSeconds: 1 }
    try {
      const review = await reviewPodToken((path, body) => kube.post(path, body, deadline(reviewTimeoutMs)), token, deliveryToken.audience)
      if (review.kind === 'refused') return { kind: 'refused', status: 401, message: review.why }
      const bearer = { namespace: review.namespace, pod: review.pod, uid: review.uid }
      confirmed.keep(key, bearer, Math.min(claims.expiresAtMs - clock.now().epochMilliseconds, longestKeptMs))
      return { kind: 'bearer', bearer }
    } finally {
      giveBack()
    }
  }
  /** Calls with the same token while it is being reviewed share the answer. */
  const confirmOnce = (token: string, key: string, claims: TokenClaims, peer: string): Promise<Confirmed> => {
    const running = asking.get(key) ?? confirm(token, key, claims, peer).finally(() => asking.delete(key))
    asking.set(key, running)
    return running
  }
  const judge = async ({ namespace, pod: name, uid }: Bearer, wanted: Caller, signal: AbortSignal): Promise<Authorisation> => {
    if (namespace !== wanted.namespace) return refused(`the token is of namespace "${namespace}"`)
    // A pod may ask before our watch has seen it, or the end of its predecessor of the same name.
    const known = store.pod(namespace, name)
    const pod = known?.uid === uid ? known : await readPod(kube, namespace, name, deadline(reviewTimeoutMs, signal))
    if (pod === undefined || pod.uid !== uid) return refused(`pod "${name}" does not exist any more, or asks for no agent`)
    if (store.syncOfPod(pod) !== wanted.name) return refused(`pod "${name}" does not follow GatewaySync "${wanted.name}"`)
    return { kind: 'allowed', pod: `${namespace}/${name}` }
  }

  return async (caller: Caller, signal: AbortSignal): Promise<Authorisation> => {
    const { namespace, name, token, peer } = caller
    const key = createHash('sha256').update(token).digest('base64')
    const path = `${key} ${namespace}/${name}`
    const refuse = async (refusal: Refusal): Promise<Authorisation> => {
      if (refusals.get(path) === undefined) refusals.keep(path, refusal, refusalKeptMs)
      const { kind } = await limits.failure(peer)
      return kind === 'over' ? { kind: 'busy', retryAfterSeconds: 1 } : refusal
    }
    const earlier = refusals.get(path)
    if (earlier !== undefined) return await refuse(earlier)
    // In a namespace that is not watched we may not even read pods.
    if (watched.length > 0 && !watched.includes(namespace))
      return await refuse(refused(`this installation does not work in namespace "${namespace}"`))
    let bearer = confirmed.get(key)
    if (bearer === undefined) {
      const claims = readClaims(token)
      const wrong = whyWrong(claims, namespace, clock)
      if (wrong !== undefined || claims === undefined) return await refuse(wrong ?? unreadable)
      const answer = await confirmOnce(token, key, claims, peer)
      if (answer.kind === 'refused') return await refuse(answer)
      if (answer.kind === 'busy') return answer
      ;({ bearer } = answer)
    }
    const authorisation = await judge(bearer, caller, signal)
    return authorisation.kind === 'refused' ? await refuse(authorisation) : authorisation
  }
}

type Confirmed = { kind: 'bearer'; bearer: Bearer } | Exclude<Authorisation, { kind: 'allowed' }>

const unreadable: Refusal = { kind: 'refused', status: 401, message: 'there is no token of a pod' }

/** Why a token cannot be right, judged by its own unconfirmed claims. */
function whyWrong(claims: TokenClaims | undefined, namespace: string, clock: Clock): Refusal | undefined {
  if (claims === undefined) return unreadable
  if (!claims.audiences.includes(deliveryToken.audience)) return { ...unreadable, message: 'the token is not for this audience' }
  if (claims.expiresAtMs + skewMs < clock.now().epochMilliseconds) return { ...unreadable, message: 'the token has expired' }
  return claims.namespace === namespace ? undefined : refused(`the token is of namespace "${claims.namespace}"`)
}

async function readPod(kube: AuthoriserDeps['kube'], namespace: string, name: string, signal: AbortSignal) {
  const object = await kube.get(podType, { namespace, name }, signal)
  return object === undefined ? undefined : projectPod(object)
}

function refused(message: string): Refusal {
  return { kind: 'refused', status: 403, message }
}

/** Remembers at most `max` values, each for a while; the oldest is dropped first. */
function createMemory<Value>(clock: Clock, max: number) {
  const entries = new Map<string, { value: Value; untilMs: number }>()
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key)
      return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry.value : undefined
    },
    keep(key: string, value: Value, forMs: number): void {
      entries.delete(key)
      entries.set(key, { value, untilMs: clock.monotonicMs() + forMs })
      const [oldest] = entries.keys()
      if (entries.size > max && oldest !== undefined) entries.delete(oldest)
    },
  }
}
