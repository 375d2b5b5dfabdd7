/**
 * A watch whose place the API server has forgotten, which a real one does only after minutes.
 */
import { KubeConfig } from '@kubernetes/client-node'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { createKube } from '../../../runtime/kube/client.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { podType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/log.ts'
import { until } from '../../support/world.ts'

const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'plant', uid: name, resourceVersion },
})

void t.test('what happened while nobody could be told is found by another list', { timeout: 60_000 }, async (t) => {
  const lists = [
    { metadata: { resourceVersion: '10' }, items: [pod('stays', '1'), pod('goes', '2')] },
    { metadata: { resourceVersion: '20' }, items: [pod('stays', '1'), pod('comes', '15')] },
  ]
  const watched: (string | null)[] = []
  let listed = 0
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://127.0.0.1').searchParams
    if (query.get('watch') !== 'true') return void response.end(JSON.stringify(lists[Math.min((listed += 1), lists.length) - 1]))
    watched.push(query.get('resourceVersion'))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const gone = { type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old resource version' } }
    if (watched.length === 1) response.end(`${JSON.stringify(gone)}\n`)
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'u' })
  const kube = createKube(config, { clock: systemClock, userAgent: 'test' })
  const stop = new AbortController()
  const told: string[] = []
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    { type: podType, namespace: 'plant', project: ({ metadata }) => metadata.name },
    { upsert: ({ name }) => told.push(`+${name}`), remove: ({ name }) => told.push(`-${name}`), synced() {} },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort(new Error('stop'))
    await running
    await kube.close()
    server.closeAllConnections()
    server.close()
  })
  await until(() => (watched.length === 2 ? true : undefined), 'it is watched again')
  t.same(watched, ['10', '20'], 'from the second list on')
  t.same(told, ['+stays', '+goes', '+comes', '-goes'], 'and what has not changed is not told again')
})
