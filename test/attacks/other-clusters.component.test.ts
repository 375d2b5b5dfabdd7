/**
 * The status page shows the fleets of other clusters only to users who may see every namespace of its own cluster, even from its cache. The
 * API servers of these clusters cannot exhaust the memory of the controller.
 */
import { writeFileSync } from 'node:fs'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
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

void t.test('an object above 2 MiB is a failure of that cluster, and such an event leads to a new list', async (t) => {
  if (!requires(t, 'openssl')) return
  const folder = temporaryFolder(t, 'other-cluster')
  const { certificate, server: pair } = await makeAuthority(folder, 'plant', ['localhost'])
  const metadata = { namespace: 'far', name: 'filling', resourceVersion: '2', annotations: { note: 'x'.repeat(2 * 1024 * 1024) } }
  const object = { apiVersion: 'clustersync.io/v1alpha1', kind: 'GatewaySync', metadata, spec: {} }
  let watches = 0
  const server = https.createServer({ cert: pair.certificate, key: pair.key }, ({ url = '' }, response) => {
    // Without the event, the watch would be resumed and no list would show the object.
    const items = watches === 0 ? [] : [object]
    const isWatch = url.includes('watch=true')
    if (isWatch) watches += 1
    const list = { metadata: { resourceVersion: '1' }, items, major: '1', minor: '36', gitVersion: 'v1.36.3' }
    response.end(`${JSON.stringify(isWatch ? { type: 'ADDED', object } : list)}\n`)
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
  const failure = await until(() => others.views()[0]?.failure, 'the failure is shown')
  t.equal(failure.reason, 'ApiUnavailable')
  containsText(t, failure.message, 'the answer is larger than 2097152 bytes')
  t.strictSame(others.views()[0]?.syncs, [])
})
