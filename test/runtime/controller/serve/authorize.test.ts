import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Authorizer, reviewLimits } from '../../../../runtime/controller/serve/authorize.ts'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import type { Kube } from '../../../../runtime/kube/client.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { type PodRecord, projectPod } from '../../../../runtime/reconcile/store/records.ts'
import { isMadeUp, madeUpToken, podToken } from '../../../support/pod-token.ts'
import { readClaims } from '../../../../runtime/kube/token-review.ts'

const signal = AbortSignal.timeout(60_000)

function podObject(uid: string, annotations: Record<string, string> = { [podAnnotations.gatewaySync]: 'one' }) {
  const metadata = {
    name: 'gw-0',
    namespace: 'plant',
    uid,
    resourceVersion: '1',
    annotations: { [podAnnotations.inject]: 'true', ...annotations },
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata }
}

type Setup = {
  tokenUid?: string
  watched?: ReturnType<typeof podObject>
  actual?: ReturnType<typeof podObject>
  name?: string
  namespaces?: string[]
  maxConfirmed?: number
}

/**
 * The API server assigns each token, except made-up ones, to pod gw-0 with `tokenUid` in the namespace that the token claims. `watched` is
 * the pod from the watch, `actual` the current one.
 */
function setup({ tokenUid = 'u', watched, actual, namespaces = [], ...limits }: Setup) {
  const extra = { 'authentication.kubernetes.io/pod-name': ['gw-0'], 'authentication.kubernetes.io/pod-uid': [tokenUid] }
  const posts: unknown[] = []
  let nowMs = 0
  const kube = {
    async post(_path: string, body: unknown) {
      posts.push(body)
      const { spec } = body as { spec: { token: string } }
      const user = { username: `system:serviceaccount:${readClaims(spec.token)?.namespace}:default`, extra }
      return { status: isMadeUp(spec.token) ? { error: 'no' } : { authenticated: true, audiences: ['clustersync.io/delivery'], user } }
    },
    get: async () => actual,
  } as unknown as Kube
  const store = new Store(() => {})
  const pod = watched === undefined ? undefined : projectPod(watched)
  if (pod !== undefined) store.upsertPod(pod)
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const authorizer = new Authorizer({ kube, store, watched: namespaces, clock, ...limits })
  const authorize: Authorizer['authorize'] = (caller, signal) => authorizer.authorize(caller, signal)
  const ask = async (token: string, { name = 'one', peer = '10.0.0.1', namespace = 'plant' } = {}): Promise<string> => {
    const answer = await authorize({ namespace, name, token, peer }, signal)
    return answer.kind === 'refused' ? `refused ${answer.status}` : answer.kind
  }
  return { ask, posts, store, pass: (ms: number) => (nowMs += ms) }
}

async function decide({ name = 'one', ...options }: Setup): Promise<string> {
  return (await setup(options).ask(podToken(), { name })).split(' ')[0] ?? ''
}

void t.test('a pod may read only the content of the GatewaySync that it follows', async (t) => {
  const pod = podObject('u')
  t.equal(await decide({ watched: pod, actual: pod }), 'allowed')
  t.equal(await decide({ watched: pod, actual: pod, name: 'other' }), 'refused')
  t.equal(await decide({ watched: pod, actual: pod, namespaces: ['elsewhere'] }), 'refused')
  t.equal(await decide({ watched: pod, actual: pod, namespaces: ['plant'] }), 'allowed')
})

void t.test('a pod that the watch does not know, or knows by an earlier UID, is read from the API server', async (t) => {
  t.equal(await decide({ actual: podObject('u') }), 'allowed')
  t.equal(await decide({ watched: podObject('before'), actual: podObject('u') }), 'allowed')
})

void t.test('a token of a deleted pod is refused', async (t) => {
  t.equal(await decide({}), 'refused')
  t.equal(await decide({ tokenUid: 'gone', watched: podObject('u'), actual: podObject('u') }), 'refused')
  t.equal(await decide({ actual: podObject('u', { [podAnnotations.inject]: 'false' }) }), 'refused')
})

void t.test('a token is reviewed once, and the pod is checked on each call', async (t) => {
  const pod = podObject('u')
  const { ask, posts, store, pass } = setup({ watched: pod })
  const token = podToken()
  t.strictSame(new Set(await Promise.all(Array.from({ length: 10 }, async () => await ask(token)))), new Set(['allowed']))
  for (let call = 0; call < 10; call += 1) t.equal(await ask(token), 'allowed')
  t.equal(posts.length, 1)
  t.equal(await ask(token, { name: 'other' }), 'refused 403')
  store.removePod('plant', 'gw-0')
  t.equal(await ask(token), 'refused 403', 'a token ends with its pod')
  t.equal(posts.length, 1)
  store.upsertPod(projectPod(pod) as PodRecord)
  pass(6_000)
  t.equal(await ask(token), 'allowed')
  pass(3_600_000)
  t.equal(await ask(token), 'allowed')
  t.equal(posts.length, 2, 'and is looked at anew when it may have ended')
})

void t.test('a namespace with many tokens displaces its own, not those of another namespace', async (t) => {
  const { ask, posts } = setup({ watched: podObject('u'), maxConfirmed: 4 })
  const known = podToken({ jti: 'known' })
  t.equal(await ask(known), 'allowed')
  for (let index = 0; index < 8; index += 1) {
    const token = podToken({ jti: `${index}`, 'kubernetes.io': { namespace: 'loud', pod: { name: 'gw-0', uid: 'u' } } })
    t.equal(await ask(token, { namespace: 'loud', peer: '10.0.0.9' }), 'refused 403', 'the pod does not exist')
  }
  t.equal(posts.length, 9)
  t.equal(await ask(known), 'allowed')
  t.equal(posts.length, 9)
})

void t.test('a token that cannot be valid is refused without a review', async (t) => {
  const { ask, posts } = setup({ watched: podObject('u') })
  const rows: [string, string][] = [
    ['', 'refused 401'],
    ['x', 'refused 401'],
    ['a.b.c', 'refused 401'],
    [podToken({ aud: ['https://kubernetes.default.svc'] }), 'refused 401'],
    [podToken({ exp: 1_000 }), 'refused 401'],
    [podToken({ exp: 'never' }), 'refused 401'],
    [podToken({ 'kubernetes.io': { namespace: 'plant' } }), 'refused 401'],
    [podToken({ 'kubernetes.io': { namespace: 'other', pod: { name: 'gw-0', uid: 'u' } } }), 'refused 403'],
    [`x.${'A'.repeat(60_000)}.x`, 'refused 401'],
  ]
  for (const [token, expected] of rows) t.equal(await ask(token), expected, token.slice(0, 40))
  t.equal(posts.length, 0)
})

void t.test('a peer with made-up tokens gets no more reviews, while other peers and known tokens are served', async (t) => {
  const { ask, posts } = setup({ watched: podObject('u') })
  t.equal(await ask(podToken({ jti: 'known' }), { peer: '10.0.0.9' }), 'allowed')
  const answers: string[] = []
  for (let call = 0; call < 500; call += 1) answers.push(await ask(madeUpToken(call), { peer: '10.0.0.9' }))
  t.equal(answers[0], 'refused 401')
  t.equal(answers.at(-1), 'busy')
  const maxOfSuspects = reviewLimits.failuresPerPeer + reviewLimits.perSecond * 0.2 * 10
  t.ok(posts.length < maxOfSuspects, `${posts.length} questions for 500 tokens`)
  t.equal(await ask(podToken({ jti: 'known' }), { peer: '10.0.0.9' }), 'allowed')
  t.equal(await ask(podToken({ jti: 'new' }), { peer: '10.0.0.1' }), 'allowed')
})

void t.test('a refusal is cached for seconds, after which a pod that starts to follow is allowed', async (t) => {
  const { ask, posts, store, pass } = setup({ watched: podObject('u', { [podAnnotations.gatewaySync]: 'two' }) })
  const token = podToken()
  t.equal(await ask(token), 'refused 403')
  store.upsertPod(projectPod(podObject('u')) as PodRecord)
  t.equal(await ask(token), 'refused 403')
  pass(6_000)
  t.equal(await ask(token), 'allowed')
  t.equal(posts.length, 1)
})
