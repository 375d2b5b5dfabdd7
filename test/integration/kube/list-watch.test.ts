/**
 * The list-watch against a real API server: pages, changes, projections, and recovery from an interruption.
 */
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { podType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { requires } from '../../support/requires.ts'
import { configMapType, openWorld, tinyPod, until } from '../../support/world.ts'

function follow(kube: Kube, namespace: string, signal: AbortSignal) {
  const items = new Map<string, string>()
  let syncs = 0
  const done = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    {
      type: podType,
      namespace,
      project: ({ metadata }) => (metadata.annotations?.['hidden'] === 'true' ? undefined : (metadata.annotations?.['v'] ?? '')),
    },
    {
      upsert: (key, item) => items.set(key.name, item),
      remove: (key) => items.delete(key.name),
      synced: () => (syncs += 1),
    },
    signal,
  )
  return { items, done, syncs: () => syncs }
}

void t.test(
  'objects are listed in pages, changes arrive, and fields outside the projection are dropped',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const { kube, namespace, signal } = await openWorld(t)
    const where = await namespace('watch')
    for (let index = 0; index < 250; index += 1)
      await kube.create(podType, tinyPod(where, `p-${index}`, { annotations: { v: '1' } }), signal)
    const stop = new AbortController()
    const { items, done, syncs } = follow(kube, where, stop.signal)
    await until(() => (syncs() > 0 ? true : undefined), 'the list is reported')
    t.equal(items.size, 250)
    await kube.create(podType, tinyPod(where, 'new', { annotations: { v: '2' } }), signal)
    await until(() => items.get('new'), 'a new pod is reported')
    await kube.mergePatch(podType, { namespace: where, name: 'p-7' }, { metadata: { annotations: { v: '9' } } }, {}, signal)
    await until(() => (items.get('p-7') === '9' ? true : undefined), 'a changed pod is reported')
    await kube.mergePatch(podType, { namespace: where, name: 'p-8' }, { metadata: { annotations: { hidden: 'true' } } }, {}, signal)
    await until(() => (items.has('p-8') ? undefined : true), 'a pod that is none of ours any more is gone')
    await kube.delete(podType, { namespace: where, name: 'new' }, signal)
    await until(() => (items.has('new') ? undefined : true), 'a deleted pod is gone')
    stop.abort()
    await done
  },
)

void t.test('large objects arrive in smaller pages, each once', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { kube, namespace, signal } = await openWorld(t)
  const where = await namespace('large')
  const names = Array.from({ length: 12 }, (_, index) => `large-${index}`)
  for (const name of names) {
    const data = { text: 'x'.repeat(600_000) }
    await kube.create(configMapType, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: where, name }, data }, signal)
  }
  const pages: string[][] = []
  for await (const { items } of kube.listPages(
    configMapType,
    { namespace: where, fieldSelector: 'metadata.name!=kube-root-ca.crt' },
    signal,
  ))
    pages.push(items.map(({ metadata }) => metadata.name))
  t.strictSame(pages.flat().toSorted(), names.toSorted())
  t.ok(pages.length > 1 && pages.every((page) => page.length <= 3), `pages of ${pages.map((page) => page.length).join(', ')}`)
})

void t.test('the largest object that the API server stores is listed and watched', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { kube, namespace, signal } = await openWorld(t)
  const where = await namespace('largest')
  // The API server sends each of these characters as six.
  const env = [{ name: 'TEXT', value: '<'.repeat(1_540_000) }]
  const create = async (name: string): Promise<unknown> => {
    const pod = tinyPod(where, name, { annotations: { v: name } })
    return await kube.create(podType, { ...pod, spec: { containers: [{ name: 'gateway', image: 'gateway:8.3', env }] } }, signal)
  }
  await create('listed')
  const stop = new AbortController()
  const { items, done, syncs } = follow(kube, where, stop.signal)
  await until(() => (syncs() > 0 ? true : undefined), 'the list is reported')
  t.strictSame([...items.keys()], ['listed'])
  await create('watched')
  await until(() => items.get('watched'), 'the new pod is reported')
  t.equal(syncs(), 1, 'by the watch')
  env[0] = { name: 'TEXT', value: '<'.repeat(1_580_000) }
  const larger: unknown = await create('larger').catch((error: unknown) => error)
  t.match(String(larger), /request is too large/, 'and a larger one is not stored')
  stop.abort()
  await done
})
