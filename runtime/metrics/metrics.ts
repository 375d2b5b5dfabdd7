/**
 * The controller's metrics: what each part reports, and the text of a scrape. Everything with a closed set of labels starts at zero, so that a
 * first failure is an increase.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../clock.ts'
import { type DeliveryRoute, deliveryRoutes, refusedStatuses } from '../delivery/protocol.ts'
import { type Reason, reasons } from '../fault.ts'
import { statusProviders } from '../gatewaysync/schema/commit-status.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { isReady, measureApplied } from './push-to-applied.ts'
import { receiverTypes } from '../settings.ts'
import { exposeProcess } from './node.ts'
import { type Exemplar, type Format, toOpenMetrics } from './openmetrics.ts'
import { exposeObjects } from './per-object.ts'
import { type Metric, type ProcessMetric, processMetrics } from './table.ts'
import { countSkews, skews } from './version-skew.ts'

const admissionOutcomes = ['injected', 'unchanged', 'malformed', 'failed'] as const
const signatureResults = ['verified', 'refused'] as const
const receiverOutcomes = ['accepted', 'duplicate', 'ignored', 'refused', 'limited', 'malformed', 'failed'] as const
const receiverSources = ['push', 'tag-push', 'release', 'notification', 'promotion', 'generic'] as const

/** Who is told what became of commits, and how a try ended. */
const addressees = [...statusProviders, ...receiverTypes] as const
const captureStates = ['Pushed', 'Nothing', 'Refused', 'Failed'] as const
const notificationOutcomes = ['sent', 'retried', 'dropped'] as const

/** What the controller watches, and from where a watch that failed went on. */
export const watchedKinds = ['gatewaysyncs', 'pods', 'syncreports'] as const
const restarts = ['place', 'list'] as const

/** `ok`, or the reason of the fault that ended the work. */
export type Ended = 'ok' | Reason

/** One method for each thing that happens; docs/operations.md lists the metrics. */
export type Metrics = {
  /** A pass over one GatewaySync; without a status the object is gone. `key` is `<namespace>/<name>`. */
  observed(key: string, status: GatewaySyncStatus | undefined): void
  reconciled(ended: Ended, durationMs: number): void
  /** How many GatewaySyncs are waiting for a pass. */
  queued(count: number): void
  /** How long ago a pass was due that begins now. */
  waited(durationMs: number): void
  /** A watch over a kind has failed; it goes on from its place, or from a list. */
  watchRestarted(kind: string, from: (typeof restarts)[number]): void
  /** How many changes a list found that the watch before it had gone past without telling of them. */
  relisted(kind: string, differences: number): void
  /** By how much a timer of the event loop was late. */
  delayed(durationMs: number): void
  fetched(ended: Ended, durationMs: number): void
  /** By how much a fetch made a mirror larger. */
  fetchedBytes(bytes: number): void
  /** How much room the mirrors take, and may take. */
  volume(room: { usedBytes: number; limitBytes: number }): void
  signaturesChecked(result: (typeof signatureResults)[number]): void
  /** `source`: the kind of event, if it was understood. */
  received(outcome: (typeof receiverOutcomes)[number], source?: (typeof receiverSources)[number]): void
  receiverOpen(open: boolean): void
  /** How many of the watched namespaces cannot be listed. */
  forbiddenNamespaces(count: number): void
  admitted(outcome: (typeof admissionOutcomes)[number], durationMs: number): void
  /** `status`: 200, or what the call was refused with. */
  delivered(route: DeliveryRoute, status: number, bytes: number): void
  /** How many answers to agents are under way. */
  streaming(count: number): void
  certificate(validity: { from: Temporal.Instant; until: Temporal.Instant }): void
  /** A try to tell somebody what became of a commit. */
  notified(to: (typeof addressees)[number], outcome: (typeof notificationOutcomes)[number]): void
  /** What became of the changes of a gateway. */
  captured(state: (typeof captureStates)[number]): void
  leading(leads: boolean): void
  /** The text of a scrape, in pieces that are made as they are read. */
  text(format?: Format): AsyncGenerator<string>
}

type Followed = { status: GatewaySyncStatus; applied: string | undefined }

type Options = {
  clock: Pick<Clock, 'now'>
  version: string
  /** The versions that agents have reported; called at a scrape while this replica leads. */
  agentVersions?: () => Iterable<string | undefined>
}

/** One for each process; `text` returns what Prometheus reads. */
export function createMetrics({ clock, version, agentVersions = () => [] }: Options): Metrics {
  const registry = new Registry()
  const series = createSeries(registry)
  const objects = new Map<string, Followed>()
  const exemplars = new Map<string, Exemplar>()
  let leads = false
  startAtZero(series)
  series.gauge('clustersync_build_info').set({ version }, 1)

  const ended = (counter: ProcessMetric, histogram: ProcessMetric, how: Ended, durationMs: number): void => {
    series.counter(counter).inc(how === 'ok' ? { result: 'ok', reason: '' } : { result: 'failed', reason: how })
    series.histogram(histogram).observe(durationMs / 1000)
  }

  /** Keeps the newest observation of each bucket as its exemplar. */
  const note = (name: ProcessMetric, value: number, requestId: string): void => {
    const { buckets = [] } = processMetrics[name] as Metric
    const bound = buckets.find((upper) => value <= upper) ?? '+Inf'
    // Prometheus refuses longer exemplars; ids that would need escaping are left out too.
    if (!/^[-\w.:/=+]{1,100}$/.test(requestId)) return
    exemplars.set(`${name} ${bound}`, { requestId, value, atSeconds: clock.now().epochMilliseconds / 1000 })
  }

  return {
    observed(key, status) {
      if (status === undefined) {
        objects.delete(key)
        return
      }
      const before = objects.get(key)
      const applied = measureApplied(before?.status, status, before?.applied, clock.now())
      if (applied?.sincePublish !== undefined) series.histogram('clustersync_publish_to_applied_seconds').observe(applied.sincePublish)
      if (applied?.sincePush !== undefined) {
        series.histogram('clustersync_push_to_applied_seconds').observe(applied.sincePush)
        const requestId = status.source?.requested?.id
        if (requestId !== undefined) note('clustersync_push_to_applied_seconds', applied.sincePush, requestId)
      }
      objects.set(key, { status, applied: isReady(status) ? status.published?.commit : before?.applied })
    },
    reconciled: (how, ms) => ended('clustersync_reconcile_total', 'clustersync_reconcile_duration_seconds', how, ms),
    queued: (count) => series.gauge('clustersync_queue_depth').set(count),
    waited: (ms) => series.histogram('clustersync_queue_wait_seconds').observe(ms / 1000),
    watchRestarted: (kind, from) => series.counter('clustersync_watch_restarts_total').inc({ kind, from }),
    relisted: (kind, differences) => series.counter('clustersync_relist_differences_total').inc({ kind }, differences),
    delayed: (ms) => series.histogram('clustersync_event_loop_delay_seconds').observe(Math.max(0, ms) / 1000),
    fetchedBytes: (bytes) => series.counter('clustersync_source_fetched_bytes_total').inc(bytes),
    volume({ usedBytes, limitBytes }) {
      series.gauge('clustersync_source_volume_used_bytes').set(usedBytes)
      series.gauge('clustersync_source_volume_limit_bytes').set(limitBytes)
    },
    fetched: (how, ms) => ended('clustersync_source_fetch_total', 'clustersync_source_fetch_duration_seconds', how, ms),
    signaturesChecked: (result) => series.counter('clustersync_signature_checks_total').inc({ result }),
    received: (outcome, source) => series.counter('clustersync_receiver_requests_total').inc({ outcome, source: source ?? '' }),
    receiverOpen: (open) => series.gauge('clustersync_receiver_open').set(open ? 1 : 0),
    forbiddenNamespaces: (count) => series.gauge('clustersync_watched_namespaces_forbidden').set(count),
    admitted(outcome, durationMs) {
      series.counter('clustersync_admission_total').inc({ outcome })
      series.histogram('clustersync_admission_duration_seconds').observe(durationMs / 1000)
    },
    delivered(route, status, bytes) {
      series.counter('clustersync_delivery_requests_total').inc({ route, status: String(status) })
      series.counter('clustersync_delivery_sent_bytes_total').inc(bytes)
    },
    streaming: (count) => series.gauge('clustersync_delivery_open_streams').set(count),
    certificate({ from, until }) {
      series.gauge('clustersync_certificate_issued_timestamp_seconds').set(from.epochMilliseconds / 1000)
      series.gauge('clustersync_certificate_expiry_timestamp_seconds').set(until.epochMilliseconds / 1000)
    },
    notified: (to, outcome) => series.counter('clustersync_notifications_total').inc({ to, outcome }),
    captured: (state) => series.counter('clustersync_captures_total').inc({ state }),
    leading(isLeader) {
      leads = isLeader
      series.gauge('clustersync_leader').set(leads ? 1 : 0)
      // Another replica follows them now; stale figures here would contradict its own.
      if (!leads) objects.clear()
    },
    async *text(format = 'text') {
      // What a scrape tells is of one moment, also where its reader is slow.
      yield* exposeObjects([...objects].map(([key, { status }]) => [key, status] as const))
      // Each replica sees the reports of all agents; only the leader counts them.
      const counted = countSkews(version, leads ? agentVersions() : [])
      for (const skew of skews) series.gauge('clustersync_agents').set({ version: skew }, counted[skew])
      const text = exposeProcess() + (await registry.metrics())
      yield format === 'openMetrics' ? toOpenMetrics(text, exemplars) : text
    },
  }
}

type Series = ReturnType<typeof createSeries>

/** Collectors for all metrics of the table. Asking for one as another type than the table says is a bug, and throws. */
function createSeries(registry: Registry) {
  const made = new Map<string, Counter | Gauge | Histogram>()
  for (const [name, metric] of Object.entries<Metric>(processMetrics)) made.set(name, collector(name, metric, registry))
  const as = <Type extends Counter | Gauge | Histogram>(name: ProcessMetric, type: abstract new (...args: never[]) => Type): Type => {
    const found = made.get(name)
    if (found instanceof type) return found
    throw new Error(`metric ${name} is not of the type that is asked for`)
  }
  return {
    counter: (name: ProcessMetric): Counter => as(name, Counter),
    gauge: (name: ProcessMetric): Gauge => as(name, Gauge),
    histogram: (name: ProcessMetric): Histogram => as(name, Histogram),
  }
}

function collector(name: string, { type, help, labels = [], buckets = [] }: Metric, registry: Registry): Counter | Gauge | Histogram {
  const common = { name, help, labelNames: [...labels], registers: [registry] }
  if (type === 'counter') return new Counter(common)
  return type === 'gauge' ? new Gauge(common) : new Histogram({ ...common, buckets: [...buckets] })
}

function startAtZero(series: Series): void {
  for (const name of ['clustersync_reconcile_total', 'clustersync_source_fetch_total'] as const) {
    series.counter(name).inc({ result: 'ok', reason: '' }, 0)
    for (const reason of Object.keys(reasons)) series.counter(name).inc({ result: 'failed', reason }, 0)
  }
  for (const outcome of receiverOutcomes) {
    const isUnderstood = outcome === 'accepted' || outcome === 'duplicate'
    const sources = isUnderstood ? receiverSources : outcome === 'ignored' ? ['', ...receiverSources] : ['']
    for (const source of sources) series.counter('clustersync_receiver_requests_total').inc({ outcome, source }, 0)
  }
  for (const kind of watchedKinds) {
    for (const from of restarts) series.counter('clustersync_watch_restarts_total').inc({ kind, from }, 0)
    series.counter('clustersync_relist_differences_total').inc({ kind }, 0)
  }
  for (const result of signatureResults) series.counter('clustersync_signature_checks_total').inc({ result }, 0)
  for (const to of addressees) {
    for (const outcome of notificationOutcomes) series.counter('clustersync_notifications_total').inc({ to, outcome }, 0)
  }
  for (const state of captureStates) series.counter('clustersync_captures_total').inc({ state }, 0)
  for (const outcome of admissionOutcomes) series.counter('clustersync_admission_total').inc({ outcome }, 0)
  for (const route of deliveryRoutes) {
    for (const status of [200, ...refusedStatuses])
      series.counter('clustersync_delivery_requests_total').inc({ route, status: String(status) }, 0)
  }
}
