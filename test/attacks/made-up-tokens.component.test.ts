/**
 * Forged tokens delay neither gateways nor the API server that reviews tokens.
 */
import { request } from 'node:https'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Authorizer, reviewLimits } from '../../runtime/controller/serve/authorize.ts'
import { podAnnotations } from '../../runtime/api/names.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import type { Kube } from '../../runtime/kube/client.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { type PodRecord, projectPod } from '../../runtime/reconcile/store/records.ts'
import { overMirror, serveDelivery } from '../support/delivery-server.ts'
import { isMadeUp, madeUpToken, podToken } from '../support/pod-token.ts'
import { requires } from '../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
/** As slow as a busy API server. */
const reviewMs = 20
const user = {
  username: 'system:serviceaccount:default:gateway',
  extra: { 'authentication.kubernetes.io/pod-name': ['gw-0'], 'authentication.kubernetes.io/pod-uid': ['u'] },
}

void t.test('200 forged tokens a second from one peer do not affect gateways', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  let [reviews, underWay, most] = [0, 0, 0]
  const kube = {
    async post(_path: string, body: unknown) {
      reviews += 1
      underWay += 1
      most = Math.max(most, underWay)
      await systemClock.wait(reviewMs)
      underWay -= 1
      const { spec } = body as { spec: { token: string } }
      return { status: isMadeUp(spec.token) ? { error: 'no' } : { authenticated: true, audiences: ['clustersync.io/delivery'], user } }
    },
    get: async () => undefined,
  } as unknown as Kube
  const store = new Store(() => {})
  const annotations = { [podAnnotations.inject]: 'true', [podAnnotations.gatewaySync]: 'plant' }
  const metadata = { name: 'gw-0', namespace: 'default', uid: 'u', resourceVersion: '1', annotations }
  store.upsertPod(projectPod({ apiVersion: 'v1', kind: 'Pod', metadata }) as PodRecord)
  const inner = overMirror(t)
  const authorizer = new Authorizer({ kube, store, watched: [], clock: systemClock })
  const authorize: Authorizer['authorize'] = (caller, signal) => authorizer.authorize(caller, signal)
  const delivery = await serveDelivery(t, inner, { more: { authorize } })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await delivery.publish(commit)
  const claims = { 'kubernetes.io': { namespace: 'default', pod: { name: 'gw-0', uid: 'u' } } }
  const made: Promise<number>[] = []
  const startMs = systemClock.monotonicMs()
  const sync = async (number: number): Promise<string[]> => {
    const paths: string[] = []
    const token = podToken({ ...claims, jti: `real ${number}` })
    const desired = { commit: parseCommitHash(commit), from: null, profile: 'default' }
    for await (const batch of delivery.client(token).changes(desired, signal)) paths.push(...batch.map(({ path }) => path))
    return paths
  }
  for (let tick = 0; tick < 30; tick += 1) {
    for (let each = 0; each < 20; each += 1) {
      made.push(callWith(delivery.served.port, madeUpToken(made.length, claims)))
    }
    // A new token each time, so that it needs a review.
    if (tick % 5 === 0) t.strictSame(await sync(tick), ['projects/a.txt'])
    await systemClock.wait(100)
  }
  const statuses = await Promise.all(made)
  t.ok(
    statuses.every((status) => status === 401 || status === 429),
    [...new Set(statuses)].join(', '),
  )
  const seconds = Math.ceil((systemClock.monotonicMs() - startMs) / 1_000)
  const maxReviews = reviewLimits.failuresPerPeer + (seconds + 1) * reviewLimits.perSecond * 0.2 + 6
  t.ok(reviews <= maxReviews, `${reviews} reviews of ${made.length} tokens in ${seconds} s`)
  t.ok(most <= 8, `${most} at once`)
})

/** Calls from another address than the agents use. */
function callWith(port: number, token: string): Promise<number> {
  return new Promise((resolve) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        localAddress: '127.0.0.2',
        method: 'POST',
        path: '/v1/namespaces/default/gatewaysyncs/plant/changes',
        headers: { authorization: `Bearer ${token}` },
        agent: false,
        rejectUnauthorized: false,
      },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    call.on('error', () => resolve(0))
    call.end('{}')
  })
}
