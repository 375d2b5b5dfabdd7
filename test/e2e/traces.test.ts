/**
 * One trace of a push, from the webhook to the scan of the gateway, exported by the controller and the agent of an installation.
 */
import t from 'tap'
import { matchObject } from '../support/assertions.ts'
import { install, readyAt, simulatedGateway } from '../support/installation.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { pushTo } from '../support/push.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const longMs = 120_000

void t.test('a push is one trace, from the webhook to the scan, over controller and agent', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const collector = await startOtlpReceiver()
  t.teardown(async () => collector.stop())
  const cluster = await install(t, ['plant'], { tracing: { endpoint: collector.endpoint } })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''), collector.spans)
  })
  const { folder, host, receiver } = cluster
  const namespace = cluster.namespace('plant')
  const repository = host.repository('acme/line')
  const first = repository.commit({ 'projects/line/project.json': '{"title":"Line","enabled":true}' })
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('acme/line'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  await readyAt(cluster, namespace, first, longMs)

  const second = repository.commit({ 'projects/line/project.json': '{"title":"Line 1","enabled":true}' })
  await pushTo(receiver, namespace, 'plant')
  await readyAt(cluster, namespace, second, longMs)
  const requestId = (await cluster.status(namespace, 'plant')).source?.requested?.id ?? ''
  const names = ['push', 'git host queried', 'commit checked', 'commit published', 'sync', 'plan', 'stage', 'publish', 'scan']
  const spans = await until(
    () => (names.every((name) => collector.spans.some((span) => span.name === name)) ? collector.spans : undefined),
    'all spans',
    longMs,
  )
  const of = (name: string) => spans.find((span) => span.name === name)
  const push = of('push')
  t.strictSame(
    [...new Set(spans.map(({ traceId }) => traceId))],
    [requestId.replaceAll('-', '')],
    'one trace, whose id is that of the request',
  )
  matchObject(t, push, {
    service: 'cluster-sync-controller',
    parentSpanId: '',
    attributes: { namespace, name: 'plant', ref: 'refs/heads/main' },
  })
  for (const name of ['git host queried', 'commit checked', 'commit published'])
    matchObject(t, of(name), { service: 'cluster-sync-controller', parentSpanId: push?.spanId, failed: undefined }, name)
  const cycles = spans.filter(({ name }) => name === 'sync')
  for (const cycle of cycles)
    matchObject(t, cycle, {
      service: 'cluster-sync-agent',
      parentSpanId: push?.spanId,
      attributes: { namespace, pod: 'gw-0', commit: second },
    })
  const [scan] = spans.filter(({ name }) => name === 'scan').toReversed()
  for (const name of ['plan', 'stage', 'publish', 'scan'])
    t.ok(
      cycles.some(({ spanId }) => spanId === of(name)?.parentSpanId),
      name,
    )
  t.ok((push?.startedAtMs ?? 0) < (scan?.endedAtMs ?? 0), 'the scan ends last')
  t.strictSame(collector.refused, [])
})
