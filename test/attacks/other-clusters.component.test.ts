/**
 * The status page shows the fleets of other clusters only to users who may see every namespace of its own cluster, even from its cache. The
 * API servers of these clusters cannot exhaust the memory of the controller.
 */
import { writeFileSync } from 'node:fs'
import * as https from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { OtherClusters } from '../../runtime/controller/page/other-clusters.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { clusterSync, clusterView } from '../../runtime/fleet/cluster-view.ts'
import type { FleetView } from '../../runtime/fleet/view.ts'
import { containsText, lacksText } from '../support/assertions.ts'
import { openController, openedPage, pageSecret, fromProxy } from '../support/controller-page.ts'
import { makeAuthority } from '../support/authority.ts'
import { condition, syncFacts } from '../support/fleet-facts.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const of = (user: string, language = 'en') => ({ ...fromProxy, 'x-forwarded-user': user, 'accept-language': language })
const cluster = clusterView({
  name: 'elsewhere',
  url: 'https://gateways.elsewhere.example/',
  syncs: [
    clusterSync(syncFacts('mixer')),
    clusterSync(syncFacts('filler', { conditions: [condition('Ready', 'False', 'GitUnauthorized', '<b>no token</b>')] })),
  ],
  truncated: true,
  seenAt: new Date(Date.now() - 120_000).toISOString(),
  failure: { reason: 'ApiUnavailable', message: 'ECONNREFUSED' },
})

void t.test('each of the own namespaces is not all of them: a cached page of one user is not that of another', async (t) => {
  const { get, setAway } = await openedPage(t, `${pageSecret}\n`, [cluster])
  for (const user of ['bob', 'cyd', 'bob', 'ann', 'cyd', 'eve']) {
    const [page, data] = [await get('/', of(user)), await get('/status.json', of(user))]
    t.strictSame([page.status, data.status], [200, 200])
    if (user === 'bob') {
      containsText(t, page.text, 'Cluster elsewhere')
      t.strictSame((JSON.parse(data.text) as FleetView).clusters, JSON.parse(JSON.stringify([cluster])))
    } else {
      lacksText(t, page.text, 'elsewhere')
      lacksText(t, data.text, 'elsewhere')
      t.notOk('clusters' in (JSON.parse(data.text) as FleetView))
    }
  }
  setAway()
  for (const path of ['/', '/status.json']) t.equal((await get(path, of('dan'))).status, 503, 'unknown permissions show nothing')
})

void t.test('without a login nobody may see every namespace, so no other cluster is shown', async (t) => {
  const { get } = await openController(t, {}, { clusters: [cluster] })
  for (const path of ['/', '/status.json']) lacksText(t, (await get(path, {})).text, 'elsewhere')
})

void t.test('a cluster is a card with its counts, problems first, and no link or button of this page', async (t) => {
  const { get } = await openedPage(t, `${pageSecret}\n`, [cluster])
  const cardOf = async (query: string, language = 'en'): Promise<string> => {
    const { text } = await get(`/${query}`, of('bob', language))
    return (
      text
        .split('<section class="card">')
        .find((one) => one.includes('Cluster elsewhere'))
        ?.split('</section>')[0] ?? ''
    )
  }
  const card = await cardOf('')
  for (const part of [
    'needs action',
    '1 of 2 GatewaySyncs are ready',
    'last seen 2m ago',
    'ECONNREFUSED (ApiUnavailable)',
    '&lt;b&gt;no token',
  ])
    containsText(t, card, part)
  t.ok(card.indexOf('plant-a/filler') < card.indexOf('plant-a/mixer'))
  t.strictSame(
    [...card.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, link]) => link),
    ['https://gateways.elsewhere.example/'],
  )
  containsText(t, await cardOf('', 'de'), 'zuletzt gesehen vor 2 min')
  const troubles = await cardOf('?show=trouble')
  containsText(t, troubles, 'plant-a/filler')
  lacksText(t, troubles, 'plant-a/mixer')
  containsText(t, await cardOf('?q=elsewhere+mixer'), 'plant-a/mixer')
  t.equal(await cardOf('?q=line-north'), '')
})

/** Follows a cluster whose API server is hostile. `answer` writes what it answers to a list or a watch. */
async function follow(t: Test, answer: (isWatch: boolean, response: ServerResponse) => void): Promise<OtherClusters> {
  const folder = temporaryFolder(t, 'other-cluster')
  const { certificate, server: pair } = await makeAuthority(folder, 'plant', ['localhost'])
  const server = https.createServer({ cert: pair.certificate, key: pair.key }, ({ url = '' }, response) => {
    if (url === '/version') response.end('{"major":"1","minor":"36","gitVersion":"v1.36.3"}')
    else answer(url.includes('watch=true'), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cluster = {
    server: `https://localhost:${(server.address() as AddressInfo).port}`,
    'certificate-authority-data': Buffer.from(certificate).toString('base64'),
  }
  const kubeconfig = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'token' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  const kubeconfigFile = path.join(folder, 'kubeconfig')
  writeFileSync(kubeconfigFile, JSON.stringify(kubeconfig))
  const stop = new AbortController()
  const others = new OtherClusters({ clock: systemClock, log: silentLog }, [{ name: 'plant-b', kubeconfigFile }])
  const running = others.run(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
    server.closeAllConnections()
    server.close()
  })
  return others
}

const syncOf = (metadata: object) => ({
  apiVersion: 'clustersync.io/v1alpha1',
  kind: 'GatewaySync',
  metadata: { namespace: 'far', name: 'filling', resourceVersion: '2', ...metadata },
  spec: {},
})
const listOf = (items: readonly object[], resourceVersion = '1'): string => JSON.stringify({ metadata: { resourceVersion }, items })

const tooLarge = [
  {
    name: 'an object above 2 MiB',
    object: syncOf({ annotations: { note: 'x'.repeat(2 * 1024 * 1024) } }),
    message: 'the response is larger than 2097152 bytes',
  },
  { name: 'an object of many lists', object: { ...syncOf({}), many: Array.from({ length: 100_000 }, () => []) }, message: 'JSON values' },
  { name: 'a long name', object: syncOf({ name: 'x'.repeat(254) }), message: 'metadata.name has 254 of at most 253 characters' },
  {
    name: 'a long namespace',
    object: syncOf({ namespace: 'x'.repeat(64) }),
    message: 'metadata.namespace has 64 of at most 63 characters',
  },
  { name: 'a list of names', object: syncOf({ name: ['x'.repeat(1024 * 1024)] }), message: 'metadata.name is not text' },
  {
    name: 'a long version',
    object: syncOf({ resourceVersion: '9'.repeat(257) }),
    message: 'metadata.resourceVersion has 257 of at most 256 characters',
  },
]
for (const { name, object, message } of tooLarge) {
  void t.test(`${name} is a failure of that cluster, in a list and in an event`, async (t) => {
    if (!requires(t, 'openssl')) return
    for (const isInEvent of [false, true]) {
      let watches = 0
      const others = await follow(t, (isWatch, response) => {
        if (isWatch) watches += 1
        // Without the event, the watch would be resumed and no list would show the object.
        response.end(isWatch ? `${JSON.stringify({ type: 'ADDED', object })}\n` : listOf(isInEvent && watches === 0 ? [] : [object]))
      })
      const failure = await until(() => others.views()[0]?.failure, 'the failure is shown')
      t.equal(failure.reason, 'ApiUnavailable')
      containsText(t, failure.message, message)
      t.strictSame(others.views()[0]?.syncs, [])
      t.equal(watches > 0, isInEvent)
    }
  })
}

void t.test('a long version of a list is a failure of that cluster', async (t) => {
  if (!requires(t, 'openssl')) return
  const others = await follow(t, (_isWatch, response) => void response.end(listOf([], '9'.repeat(900_000))))
  const failure = await until(() => others.views()[0]?.failure, 'the failure is shown')
  containsText(t, failure.message, 'metadata.resourceVersion has 900000 of at most 256 characters')
})

void t.test('a flood of events is taken at a bounded rate', async (t) => {
  if (!requires(t, 'openssl')) return
  let [sent, over] = [0, false]
  const others = await follow(t, (isWatch, response) => {
    if (!isWatch) return void response.end(listOf([]))
    const write = (): void => {
      while (!over && response.write(`${JSON.stringify({ type: 'ADDED', object: syncOf({ name: `sync-${sent}` }) })}\n`)) sent += 1
    }
    response.on('drain', write)
    write()
    return undefined
  })
  const taken = (): number => others.views()[0]?.syncs.length ?? 0
  await until(() => taken() >= 49 || undefined, 'the first events are taken')
  const [before, startedMs] = [taken(), systemClock.monotonicMs()]
  await until(() => taken() >= 120 || undefined, 'more events are taken')
  const seconds = (systemClock.monotonicMs() - startedMs) / 1000
  over = true
  t.ok(sent > 1_000, `${sent} events were sent`)
  t.ok(taken() - before <= 50 * (Math.floor(seconds) + 2), `${taken() - before} events in ${seconds} s`)
})
