import t from 'tap'
import { createAuthoriser } from '../../../runtime/controller/authorise.ts'
import { podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import { createStore, projectPod } from '../../../runtime/reconcile/store.ts'

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

/** The API server says that the token is pod gw-0's with `tokenUid`; `watched` is what the watch has told, `actual` what there is. */
async function decide({
  tokenUid = 'u',
  watched,
  actual,
  name = 'one',
  namespaces = [] as string[],
}: {
  tokenUid?: string
  watched?: ReturnType<typeof podObject>
  actual?: ReturnType<typeof podObject>
  name?: string
  namespaces?: string[]
}) {
  const extra = { 'authentication.kubernetes.io/pod-name': ['gw-0'], 'authentication.kubernetes.io/pod-uid': [tokenUid] }
  const user = { username: 'system:serviceaccount:plant:default', extra }
  const kube = {
    post: async () => ({ status: { authenticated: true, audiences: ['clustersync.io/delivery'], user } }),
    get: async () => actual,
  } as unknown as Kube
  const store = createStore(() => {})
  const pod = watched === undefined ? undefined : projectPod(watched)
  if (pod !== undefined) store.upsertPod(pod)
  const authorise = createAuthoriser({ kube, store, watched: namespaces })
  const { kind } = await authorise({ namespace: 'plant', name, token: 'x' }, signal)
  return kind
}

void t.test('a pod gets what the GatewaySync that it follows delivers, and nothing else', async (t) => {
  const pod = podObject('u')
  t.equal(await decide({ watched: pod, actual: pod }), 'allowed')
  t.equal(await decide({ watched: pod, actual: pod, name: 'other' }), 'refused')
  t.equal(await decide({ watched: pod, actual: pod, namespaces: ['elsewhere'] }), 'refused')
  t.equal(await decide({ watched: pod, actual: pod, namespaces: ['plant'] }), 'allowed')
})

void t.test('a pod that the watch has not told of yet, or only its predecessor of the same name, is looked up', async (t) => {
  t.equal(await decide({ actual: podObject('u') }), 'allowed')
  t.equal(await decide({ watched: podObject('before'), actual: podObject('u') }), 'allowed')
})

void t.test('a token of a pod that is gone is worth nothing', async (t) => {
  t.equal(await decide({}), 'refused')
  t.equal(await decide({ tokenUid: 'gone', watched: podObject('u'), actual: podObject('u') }), 'refused')
  t.equal(await decide({ actual: podObject('u', { [podAnnotations.inject]: 'false' }) }), 'refused')
})
