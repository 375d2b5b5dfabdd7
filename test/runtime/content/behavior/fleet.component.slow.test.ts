/**
 * Many agents at once, with a real content server, real clients and a real mirror: git is queried as for a single agent.
 */
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Authorizer } from '../../../../runtime/controller/serve/authorize.ts'
import type { FramedSource } from '../../../../runtime/content/protocol/protocol.ts'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import type { Kube } from '../../../../runtime/kube/client.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { type PodRecord, projectPod } from '../../../../runtime/reconcile/store/records.ts'
import { type MirrorUnderTest, overMirror, serveDelivery, type ServedDelivery } from '../../../support/delivery-server.ts'
import { podToken } from '../../../support/pod-token.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(280_000)

/** A content server for the gateways of GatewaySync `default/plant`, with a simulated TokenReview; `asked` records the git queries. */
async function serveFleet(
  t: Test,
  inner: MirrorUnderTest,
  size: number,
): Promise<{ delivery: ServedDelivery; asked: string[]; reviews: () => number }> {
  const store = new Store(() => {})
  let reviews = 0
  for (let index = 0; index < size; index += 1) {
    const annotations = { [podAnnotations.inject]: 'true', [podAnnotations.gatewaySync]: 'plant' }
    const metadata = { name: `gw-${index}`, namespace: 'default', uid: `u-${index}`, resourceVersion: '1', annotations }
    store.upsertPod(projectPod({ apiVersion: 'v1', kind: 'Pod', metadata }) as PodRecord)
  }
  const kube = {
    async post(_path: string, body: unknown) {
      reviews += 1
      await systemClock.wait(2)
      const { spec } = body as { spec: { token: string } }
      const { 'kubernetes.io': bound } = JSON.parse(Buffer.from(spec.token.split('.')[1] ?? '', 'base64url').toString()) as {
        'kubernetes.io': { pod: { name: string; uid: string } }
      }
      const extra = { 'authentication.kubernetes.io/pod-name': [bound.pod.name], 'authentication.kubernetes.io/pod-uid': [bound.pod.uid] }
      const user = { username: 'system:serviceaccount:default:gateway', extra }
      return { status: { authenticated: true, audiences: ['clustersync.io/delivery'], user } }
    },
    get: async () => undefined,
  } as unknown as Kube
  const asked: string[] = []
  const source: FramedSource = {
    ...inner.source,
    changes(request, own) {
      asked.push('changes')
      return inner.source.changes(request, own)
    },
    frames(request, own) {
      asked.push('frames')
      return inner.source.frames(request, own)
    },
  }
  const authorizer = new Authorizer({ kube, store, watched: [], clock: systemClock })
  const authorize: Authorizer['authorize'] = (caller, signal) => authorizer.authorize(caller, signal)
  return { delivery: await serveDelivery(t, inner, { source, more: { authorize } }), asked, reviews: () => reviews }
}

/** Does what an agent does with a commit: reads the changes, then their blobs. Returns the number of bytes received. */
async function sync({ client }: ServedDelivery, index: number, commit: string, from: string | null): Promise<number> {
  const pod = { name: `gw-${index}`, uid: `u-${index}` }
  const source = client(podToken({ 'kubernetes.io': { namespace: 'default', pod } }))
  const desired = { commit: parseCommitHash(commit), profile: 'default' }
  const ids = new Set<string>()
  for await (const batch of source.changes({ ...desired, from: from === null ? null : parseCommitHash(from) }, signal)) {
    for (const change of batch) if (change.op === 'put') ids.add(change.id)
  }
  let bytes = 0
  const sink = { begin: () => undefined, data: (chunk: Uint8Array) => void (bytes += chunk.byteLength), end: () => undefined }
  await source.blobs({ ...desired, ids: [...ids].map(parseCommitHash) }, sink, signal)
  return bytes
}

void t.test('50 gateways that request a commit at once cause one git query for it', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { delivery, asked, reviews } = await serveFleet(t, inner, 50)
  const first = inner.repository.commit({ 'projects/a.txt': 'one', 'projects/b.txt': 'stays' })
  await delivery.publish(first)
  const second = inner.repository.commit({ 'projects/a.txt': 'second' })
  await delivery.publish(second)
  const bytes = await Promise.all(Array.from({ length: 50 }, async (_, index) => await sync(delivery, index, second, first)))
  t.strictSame(new Set(bytes), new Set(['second'.length]))
  t.strictSame(asked, ['changes', 'frames'])
  t.equal(reviews(), 50, 'and the API server about each token once')
})

void t.test('1,000 gateways that start at once all receive all content', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { delivery, asked, reviews } = await serveFleet(t, inner, 1_000)
  const content = 'x'.repeat(2_000)
  const commit = inner.repository.commit(
    Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`projects/${index}.txt`, `${index}${content}`])),
  )
  await delivery.publish(commit)
  const expected = Array.from({ length: 20 }, (_, index) => `${index}`.length + content.length).reduce((sum, size) => sum + size, 0)
  const bytes = await Promise.all(Array.from({ length: 1_000 }, async (_, index) => await sync(delivery, index, commit, null)))
  t.strictSame(new Set(bytes), new Set([expected]))
  t.equal(reviews(), 1_000)
  t.ok(asked.length <= 20, `${asked.length} questions to git for 2,000 answers`)
})
