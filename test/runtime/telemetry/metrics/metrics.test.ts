import path from 'node:path'
import t from 'tap'
import { deliveryRoutes, refusedStatuses } from '../../../../runtime/content/protocol/protocol.ts'
import { type Reason, reasons } from '../../../../runtime/platform/fault.ts'
import { statusProviders } from '../../../../runtime/api/schema/commit-status.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { createMetrics, type Metrics, watchedKinds } from '../../../../runtime/telemetry/metrics/metrics.ts'
import { receiverTypes } from '../../../../runtime/settings/controller.ts'
import { agentMetrics, nodeMetrics, objectMetrics, processMetrics } from '../../../../runtime/telemetry/metrics/table.ts'
import { AgentMetrics } from '../../../../runtime/agent/metrics.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText, lacksText } from '../../../support/assertions.ts'
import { codeOf, readModules } from '../../../support/modules.ts'
import type { Format } from '../../../../runtime/telemetry/metrics/exposition.ts'

const commit = 'a'.repeat(40)
const other = 'b'.repeat(40)
const noon = Temporal.Instant.from('2026-01-01T12:00:00Z')

function status(ready: boolean, changed: Partial<GatewaySyncStatus> = {}): GatewaySyncStatus {
  const conditions = [
    {
      type: 'Ready',
      status: ready ? ('True' as const) : ('False' as const),
      lastTransitionTime: '2026-01-01T12:00:00Z',
      reason: 'r',
      message: 'm',
    },
    { type: 'Paused', status: 'True' as const, lastTransitionTime: '2026-01-01T12:00:00Z', reason: 'r', message: 'm' },
  ]
  return { conditions, published: { commit, ref: 'main', at: '2026-01-01T11:59:58Z' }, ...changed }
}

async function textOf(metrics: Metrics, format?: Format): Promise<string> {
  return (await Array.fromAsync(metrics.text(format))).join('')
}

function setup() {
  let now = noon
  const metrics = createMetrics({ clock: { now: () => now }, version: '1.2.3' })
  const value = async (series: string): Promise<number | undefined> => {
    const line = (await textOf(metrics)).split('\n').find((text) => text.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { metrics, value, pass: (ms: number) => (now = now.add({ milliseconds: ms })) }
}

void t.test('the output contains exactly the metrics of the table, with help and type', async (t) => {
  const { metrics } = setup()
  metrics.observed('plant/main', status(true))
  const text = await textOf(metrics)
  const table = { ...objectMetrics, ...nodeMetrics, ...processMetrics }
  for (const [name, { type, help }] of Object.entries(table)) {
    containsText(t, text, `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`)
  }
  const named = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  t.strictSame(new Set(named), new Set(Object.keys(table)))
})

void t.test('the agent writes exactly its part of the table', async (t) => {
  const found = [...new AgentMetrics({ version: '1.2.3' }).text().matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name, help, type]) => [name, help, type],
  )
  t.strictSame(
    found,
    Object.entries({ ...agentMetrics, ...nodeMetrics }).map(([name, { help, type }]) => [name, help, type]),
  )
})

void t.test('a replica that is no longer leader reports no object metrics', async (t) => {
  const { metrics, value } = setup()
  metrics.leading(true)
  metrics.observed('plant/main', status(true))
  metrics.leading(false)
  t.equal(await value('clustersync_ready{namespace="plant",name="main"}'), undefined)
  t.equal(await value('clustersync_leader'), 0)
})

void t.test('object metrics come from the status and are removed with the object', async (t) => {
  const { metrics, value } = setup()
  const gateways = { total: 3, synced: 2, pending: 1, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0, waiting: 0 }
  metrics.observed('plant/main', status(true, { gateways, outdatedAgents: 1, findings: { errors: 1, warnings: 2, items: [] } }))
  metrics.observed('plant/other', status(false))
  const labels = 'namespace="plant",name="main"'
  t.equal(await value(`clustersync_ready{${labels}}`), 1)
  t.equal(await value('clustersync_ready{namespace="plant",name="other"}'), 0)
  t.equal(await value(`clustersync_condition{${labels},type="Paused"}`), 1)
  t.equal(await value(`clustersync_condition{${labels},type="Stalled"}`), 0)
  t.equal(await value(`clustersync_gateways{${labels},state="synced"}`), 2)
  t.equal(await value(`clustersync_gateways{${labels},state="total"}`), undefined, 'the states add up to the total')
  t.equal(await value(`clustersync_outdated_agents{${labels}}`), 1)
  t.equal(await value('clustersync_outdated_agents{namespace="plant",name="other"}'), 0)
  t.equal(await value(`clustersync_findings{${labels},severity="error"}`), 1)
  t.equal(await value(`clustersync_published_info{${labels},verified="false"}`), 1)
  t.equal(await value(`clustersync_published_timestamp_seconds{${labels}}`), Date.parse('2026-01-01T11:59:58Z') / 1000)
  metrics.observed('plant/main', undefined)
  const text = await textOf(metrics)
  lacksText(t, text, 'name="main"')
  containsText(t, text, 'name="other"')
})

void t.test('a thousand objects are written in small pieces, as of the start of the scrape', async (t) => {
  const { metrics } = setup()
  const keys = Array.from({ length: 1_000 }, (_, index) => `plants-${index % 50}/plant-${index}`)
  for (const key of keys) metrics.observed(key, status(true))
  const pieces: string[] = []
  for await (const piece of metrics.text('openMetrics')) {
    pieces.push(piece)
    // While the first piece is read, one object changes and another is removed.
    if (pieces.length > 1) continue
    metrics.observed(keys[998] ?? '', status(false))
    metrics.observed(keys[999] ?? '', undefined)
  }
  t.ok(Math.max(...pieces.map((piece) => piece.length)) < 128 * 1024, 'no piece is large')
  const ready = [...pieces.join('').matchAll(/^clustersync_ready\{namespace="(.*)",name="(.*)"\} 1$/gm)]
  t.strictSame(
    ready.map(([, namespace, name]) => `${namespace}/${name}`),
    keys,
  )
  t.ok(pieces.join('').endsWith('\n# EOF\n'))
})

void t.test('each object metric is a gauge, whose text is the same in both formats', (t) => {
  for (const [name, { type }] of Object.entries(objectMetrics)) t.equal(type, 'gauge', name)
  t.end()
})

void t.test('commits, refs and URLs never become labels', async (t) => {
  const { metrics } = setup()
  metrics.observed('plant/main', status(true, { source: { ref: 'main', commit }, delivery: { url: 'https://d', caBundle: 'x' } }))
  t.notMatch(await textOf(metrics), new RegExp(`${commit}|"main".*"main"|https:`))
})

/** The values of a closed set; the compiler requires each of them. */
function each<Value extends string>(values: Record<Value, true>): Value[] {
  return Object.keys(values) as Value[]
}

void t.test('every series exists from the start with the value zero', async (t) => {
  const { metrics } = setup()
  const series = async (): Promise<string[]> =>
    (await textOf(metrics)).split('\n').filter((line) => line.startsWith('clustersync_') && !line.startsWith('clustersync_build_info'))
  const before = await series()
  t.strictSame(
    before.filter((line) => !line.endsWith(' 0')),
    [],
  )
  for (const how of ['ok', ...(Object.keys(reasons) as Reason[])] as const) {
    metrics.reconciled(how, 1)
    metrics.fetched(how, 1)
  }
  for (const kind of watchedKinds) {
    for (const from of each<Parameters<Metrics['watchRestarted']>[1]>({ place: true, list: true })) metrics.watchRestarted(kind, from)
    metrics.relisted(kind, 1)
  }
  type Event = NonNullable<Parameters<Metrics['received']>[1]>
  const events = each<Event>({ push: true, 'tag-push': true, release: true, notification: true, promotion: true, generic: true })
  for (const event of events) for (const outcome of ['accepted', 'duplicate', 'ignored'] as const) metrics.received(outcome, event)
  for (const outcome of ['ignored', 'refused', 'limited', 'malformed', 'failed'] as const) metrics.received(outcome)
  for (const route of deliveryRoutes) for (const status of [200, ...refusedStatuses]) metrics.delivered(route, status, 1)
  const admitted = each<Parameters<Metrics['admitted']>[0]>({ injected: true, unchanged: true, malformed: true, failed: true })
  for (const outcome of admitted) metrics.admitted(outcome, 1)
  for (const result of each<Parameters<Metrics['signaturesChecked']>[0]>({ verified: true, refused: true }))
    metrics.signaturesChecked(result)
  type Told = Parameters<Metrics['notified']>[1]
  for (const to of [...statusProviders, ...receiverTypes])
    for (const outcome of each<Told>({ sent: true, retried: true, dropped: true })) metrics.notified(to, outcome)
  for (const state of each<Parameters<Metrics['captured']>[0]>({ Pushed: true, Nothing: true, Refused: true, Failed: true }))
    metrics.captured(state)
  const named = (lines: string[]): string[] => lines.map((line) => line.slice(0, line.lastIndexOf(' ')))
  const after = await series()
  t.strictSame(named(after), named(before))
  const counters = after.filter((line) => /_total(?:\{|\s)/.test(line) && !line.startsWith('clustersync_source_fetched_bytes'))
  t.strictSame(
    counters.filter((line) => line.endsWith(' 0')),
    [],
    'every counter has counted',
  )
})

void t.test('events are counted, and durations are in seconds', async (t) => {
  const { metrics, value } = setup()
  metrics.reconciled('ok', 20)
  metrics.reconciled('Conflict', 3000)
  metrics.fetched('GitTimeout', 61_000)
  metrics.received('accepted', 'push')
  metrics.admitted('injected', 4)
  metrics.delivered('blobs', 200, 1000)
  metrics.certificate({ from: noon, until: noon.add({ hours: 24 }) })
  metrics.leading(true)
  t.equal(await value('clustersync_reconcile_total{outcome="ok",reason=""}'), 1)
  t.equal(await value('clustersync_reconcile_total{outcome="failed",reason="Conflict"}'), 1)
  t.equal(await value('clustersync_reconcile_duration_seconds_sum'), 3.02)
  t.equal(await value('clustersync_source_request_duration_seconds_bucket{le="60"}'), 0)
  t.equal(await value('clustersync_receiver_requests_total{outcome="accepted",source="push"}'), 1)
  t.equal(await value('clustersync_admission_requests_total{outcome="injected"}'), 1)
  t.equal(await value('clustersync_delivery_sent_bytes_total'), 1000)
  t.equal(await value('clustersync_certificate_expiry_timestamp_seconds'), noon.epochMilliseconds / 1000 + 86_400)
  t.equal(await value('clustersync_leader'), 1)
  t.equal(await value('clustersync_build_info{version="1.2.3"}'), 1)
})

void t.test('the time from a push until every gateway runs its commit is measured once', async (t) => {
  const { metrics, value, pass } = setup()
  const pushed = { ref: 'main', commit, requested: { ref: 'main', id: '1', specRef: 'main', at: '2026-01-01T11:59:57Z' } }
  const measured = async (): Promise<unknown[]> => [
    await value('clustersync_push_to_applied_seconds_count'),
    await value('clustersync_push_to_applied_seconds_sum'),
    await value('clustersync_publish_to_applied_seconds_sum'),
  ]
  metrics.observed('plant/main', status(true, { source: pushed }))
  t.strictSame(await measured(), [0, 0, 0], 'a status that was there at start measures nothing')
  const published = { commit: other, ref: 'main', at: '2026-01-01T12:00:00Z' }
  const next = { published, source: { ...pushed, commit: other, requested: { ...pushed.requested, at: '2026-01-01T11:59:59.500Z' } } }
  metrics.observed('plant/main', status(false, next))
  t.strictSame(await measured(), [0, 0, 0])
  pass(1500)
  metrics.observed('plant/main', status(true, next))
  t.strictSame(await measured(), [1, 2, 1.5])
  metrics.observed('plant/main', status(false, next))
  metrics.observed('plant/main', status(true, next))
  t.strictSame(await measured(), [1, 2, 1.5], 'the same commit is measured once')
})

void t.test('an exemplar links a bucket to its latest push', async (t) => {
  const { metrics, pass } = setup()
  const applied = async (id: string, afterMs: number): Promise<void> => {
    const at = '2026-01-01T12:00:00Z'
    const source = { ref: 'main', commit, requested: { ref: 'main', id, specRef: 'main', at } }
    const published = { commit: id.padEnd(40, '0'), ref: 'main', at }
    const next = { published, source: { ...source, commit: published.commit } }
    metrics.observed('plant/main', status(false, next))
    pass(afterMs)
    metrics.observed('plant/main', status(true, next))
  }
  await applied('a1', 200)
  await applied('a2', 20)
  await applied('no id" that could end a label', 200)
  const [found, ...others] = (await textOf(metrics, 'openMetrics')).split('\n').filter((line) => line.includes(' # {'))
  t.match(found, /^clustersync_push_to_applied_seconds_bucket\{le="0\.25"\} 2 # \{request_id="a2"\} 0\.22 \d+\.\d+$/)
  t.strictSame(others, [])
  t.notMatch(await textOf(metrics), / # \{/, 'the plain text has no room for one')
})

void t.test('the leader reports agent versions', async (t) => {
  const metrics = createMetrics({ clock: { now: () => noon }, version: '1.2.3', agentVersions: () => ['1.2.3', '1.2.2', undefined] })
  const told = async (): Promise<string[]> => [...(await textOf(metrics)).matchAll(/^clustersync_agents\{.*$/gm)].map(([line]) => line)
  t.strictSame(
    await told(),
    ['same', 'older', 'newer', 'unknown'].map((skew) => `clustersync_agents{skew="${skew}"} 0`),
  )
  metrics.leading(true)
  t.strictSame(await told(), [
    'clustersync_agents{skew="same"} 1',
    'clustersync_agents{skew="older"} 1',
    'clustersync_agents{skew="newer"} 0',
    'clustersync_agents{skew="unknown"} 1',
  ])
})

void t.test('queue, watch, mirror and stream metrics are recorded', async (t) => {
  const { metrics, value } = setup()
  metrics.queued(3)
  metrics.waited(1500)
  metrics.watchRestarted('pods', 'list')
  metrics.relisted('pods', 2)
  metrics.delayed(-1)
  metrics.fetchedBytes(1000)
  metrics.volume({ usedBytes: 10, limitBytes: 20 })
  metrics.streaming(4)
  t.equal(await value('clustersync_queue_depth'), 3)
  t.equal(await value('clustersync_queue_wait_seconds_sum'), 1.5)
  t.equal(await value('clustersync_watch_restarts_total{kind="pods",from="list"}'), 1)
  t.equal(await value('clustersync_watch_restarts_total{kind="gatewaysyncs",from="place"}'), 0)
  t.equal(await value('clustersync_relist_differences_total{kind="pods"}'), 2)
  t.equal(await value('clustersync_event_loop_delay_seconds_sum'), 0, 'a timer that is early is not late')
  t.equal(await value('clustersync_source_fetched_bytes_total'), 1000)
  t.equal(await value('clustersync_source_volume_used_bytes'), 10)
  t.equal(await value('clustersync_source_volume_limit_bytes'), 20)
  t.equal(await value('clustersync_delivery_open_streams'), 4)
})

void t.test('each metric method is called by the controller', (t) => {
  const code = readModules(path.join(import.meta.dirname, '../../../..'), 'runtime')
    .filter(({ file }) => !file.startsWith('runtime/telemetry/metrics/'))
    .map(codeOf)
    .join('\n')
  for (const figure of Object.keys(setup().metrics)) t.match(code, new RegExp(`\\bmetrics\\.${figure}\\b`), figure)
  t.end()
})

void t.test('the leader reports usage only for the twenty namespaces with the highest usage', async (t) => {
  const metrics = createMetrics({ clock: { now: () => noon }, version: '1.2.3' })
  const uses = Array.from({ length: 30 }, (_, index) => ({ tenant: `n${index}`, held: 0, waiting: index, usedSeconds: index }))
  metrics.limiting('validation', { uses: () => uses })
  const series = /^clustersync_limiter_used_seconds_total\{resource="validation",namespace="(n[0-9]+)"\} [0-9]+$/gm
  const namespaces = async (): Promise<unknown[]> => [...(await textOf(metrics)).matchAll(series)].map(([, name]) => name)
  t.strictSame(await namespaces(), [])
  metrics.leading(true)
  const expected = Array.from({ length: 20 }, (_, index) => `n${29 - index}`)
  t.strictSame(await namespaces(), expected)
  t.strictSame(await namespaces(), expected, 'once for each scrape')
})
