/**
 * Webhook calls for a namespace take neither the time nor the connections of calls for others.
 */
import t from 'tap'
import type { ReceiverTarget } from '../../runtime/receiver/request/choose-ref.ts'
import { connectionBounds } from '../../runtime/receiver/limits.ts'
import { indexOf, serveReceiver } from '../support/receiver-app.ts'
import { until } from '../support/world.ts'

const many = Array.from({ length: 2_000 }, (_, index) => `line-${index}`)
const plant = 'https://git.example/acme/plant'

function targetOf(repository: string): ReceiverTarget {
  return { specRef: 'main', desiredRef: 'main', allowedRefs: undefined, repository }
}

void t.test('a call for a namespace visits only the GatewaySyncs of its repository, and reads each source of keys once', async (t) => {
  const visited: string[] = []
  const read: string[] = []
  const repositoryOf = (name: string): string => (name === 'line-7' ? plant : `https://git.example/acme/${name}`)
  const index = indexOf(many, (name) => ({ keySource: '', repository: repositoryOf(name) }))
  const { post, bearer } = await serveReceiver(t, {
    more: {
      syncs: () => index,
      async keys(_namespace, name) {
        read.push(name)
        return { hmac: undefined, tokens: ['token'] }
      },
      lookup(_namespace, name) {
        visited.push(name)
        return targetOf(repositoryOf(name))
      },
    },
  })
  const body = JSON.stringify({ ref: 'main', repository: { clone_url: `${plant}.git` } })
  const { results } = (await post(body, bearer, '/webhook/default')).body as { results: { name: string }[] }
  t.strictSame(
    results.map(({ name }) => name),
    ['line-7'],
  )
  t.strictSame([visited, read.length], [['line-7'], 1])
  await post(body, {}, '/webhook/default')
  t.strictSame([visited, read.length], [['line-7'], 2], 'a call without a key visits none')
})

void t.test('a call that names a thousand refs of thousands of GatewaySyncs does not delay the push of another namespace', async (t) => {
  const begun = Promise.withResolvers<void>()
  const index = indexOf(many, () => ({ keySource: '', repository: plant }))
  const { post, bearer } = await serveReceiver(t, {
    more: {
      syncs: () => index,
      lookup(namespace) {
        if (namespace === 'hostile') begun.resolve()
        return targetOf(plant)
      },
    },
  })
  const commits = Array.from({ length: 1_000 }, (_, index) => ({ repoURL: plant, tag: `v${index}` }))
  const answered: string[] = []
  const hostile = post(JSON.stringify({ freight: { commits } }), bearer, '/webhook/hostile').then(({ status, body }) => {
    answered.push('hostile')
    return { status, count: (body['results'] as object[]).length }
  })
  await begun.promise
  const { status } = await post('{"ref":"main"}', bearer, '/webhook/other/plant')
  answered.push('other')
  t.equal(status, 202)
  t.strictSame(await hostile, { status: 202, count: many.length })
  t.strictSame(answered, ['other', 'hostile'])
})

void t.test('calls that wait for the writes of their namespace leave connections to another namespace', async (t) => {
  const release = Promise.withResolvers<void>()
  const limits = { perSecond: 100_000, failuresPerPeer: 20 }
  const { post, bearer } = await serveReceiver(t, {
    bounds: connectionBounds,
    more: {
      limits,
      lookup: () => targetOf(plant),
      request: async (namespace) => (namespace === 'hostile' ? await release.promise : undefined),
    },
  })
  const statuses = new Set<number>()
  const call = async (index: number): Promise<void> => {
    // One whose connection is closed has no status.
    const answer = await post('{"ref":"main"}', bearer, `/webhook/hostile/line-${index}`).catch(() => undefined)
    if (answer !== undefined) statuses.add(answer.status)
  }
  const calls = Array.from({ length: 2 * connectionBounds.maxConnections }, (_, index) => call(index))
  await until(() => statuses.has(503) || undefined, 'the share of the namespace is taken')
  for (let push = 0; push < 5; push += 1) t.equal((await post('{"ref":"main"}', bearer, '/webhook/other/plant')).status, 202)
  release.resolve()
  await Promise.all(calls)
})
