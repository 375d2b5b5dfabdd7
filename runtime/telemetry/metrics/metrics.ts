/**
 * Collects the controller's metrics, and generates the text of a scrape. Everything with a closed set of labels starts at zero, so that a
 * first failure is an increase.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../../platform/clock.ts'
import { type DeliveryRoute, deliveryRoutes, refusedStatuses } from '../../content/protocol/protocol.ts'
import { type Reason, reasons } from '../../platform/fault.ts'
import { statusProviders } from '../../api/schema/commit-status.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { receiverTypes } from '../../settings/controller.ts'
import { exposeProcess } from './node.ts'
import { exposeObjects, isReady, measureApplied } from './per-object.ts'
import { type Metric, type ProcessMetric, processMetrics } from './table.ts'
import { type Exemplar, type Format, toOpenMetrics } from './exposition.ts'
import { countSkews, skews } from '../../platform/version.ts'

const admissionOutcomes = ['injected', 'unchanged', 'malformed', 'failed'] as const
const signatureOutcomes = ['verified', 'refused'] as const
const receiverOutcomes = ['accepted', 'duplicate', 'ignored', 'refused', 'limited', 'malformed', 'failed'] as const
const receiverSources = ['push', 'tag-push', 'release', 'notification', 'promotion', 'generic'] as const

/** The targets of notifications and commit statuses. */
const notificationTypes = [...statusProviders, ...receiverTypes] as const
const captureOutcomes = ['Pushed', 'Nothing', 'Refused', 'Failed'] as const
const notificationOutcomes = ['sent', 'retried', 'dropped'] as const

/** The kinds that the controller watches, and how a failed watch restarted. */
export const watchedKinds = ['gatewaysyncs', 'pods', 'syncreports'] as const
const restarts = ['place', 'list'] as const

/** Resources that namespaces share through a limiter. */
export type SharedResource = 'source-resolution' | 'git-memory' | 'signature-verification' | 'validation'
/** Maximum number of namespaces in the metrics of a resource, one series each. */
const maxNamespaces = 20

/** `ok`, or the reason of the fault that ended the work. */
export type Ended = 'ok' | Reason

/** One method per event; docs/reference/operations.md lists the metrics. */
export type Metrics = {
  /** A reconcile of one GatewaySync; without a status the object was deleted. `key` is `<namespace>/<name>`. */
  observed(key: string, status: GatewaySyncStatus | undefined): void
  reconciled(ended: Ended, durationMs: number): void
  /** Number of GatewaySyncs waiting for a reconcile. */
  queued(count: number): void
  /** Delay of a reconcile that begins now. */
  waited(durationMs: number): void
  /** A watch of a kind has failed; it resumes from its last position, or from a list. */
  watchRestarted(kind: string, from: (typeof restarts)[number]): void
  /** Number of changes that a list found and the watch before it had passed without reporting. */
  relisted(kind: string, differences: number): void
  /** Delay of a timer of the event loop. */
  delayed(durationMs: number): void
  fetched(ended: Ended, durationMs: number): void
  /** By how much a fetch made a mirror larger. */
  fetchedBytes(bytes: number): void
  /** Disk space that the mirrors take, and may take. */
  volume(room: { usedBytes: number; limitBytes: number }): void
  signaturesChecked(outcome: (typeof signatureOutcomes)[number]): void
  /** `source`: the kind of event, if recognized; `reason`: why an authenticated call changed nothing. */
  received(outcome: (typeof receiverOutcomes)[number], source?: (typeof receiverSources)[number], reason?: string): void
  receiverOpen(open: boolean): void
  /** How many of the watched namespaces cannot be listed. */
  forbiddenNamespaces(count: number): void
  admitted(outcome: (typeof admissionOutcomes)[number], durationMs: number): void
  /** `code`: 200, or that of the error answer. */
  delivered(route: DeliveryRoute, code: number, bytes: number): void
  /** Number of running answers to agents. */
  streaming(count: number): void
  certificate(validity: { from: Temporal.Instant; until: Temporal.Instant }): void
  /** An attempt to send a notification or commit status. */
  notified(type: (typeof notificationTypes)[number], outcome: (typeof notificationOutcomes)[number]): void
  /** The capture result of a gateway. */
  captured(outcome: (typeof captureOutcomes)[number]): void
  /** Adds the namespaces' use of a resource to the metrics of the leader. */
  limiting(resource: SharedResource, limiter: Pick<FairLimiter, 'uses'>): void
  leading(leads: boolean): void
  /** The text of a scrape, in pieces generated on demand. */
  text(format?: Format): AsyncGenerator<string>
}

type Followed = { status: GatewaySyncStatus; applied: string | undefined }

type Options = {
  clock: Pick<Clock, 'now'>
  version: string
  /** The versions that agents have reported; called at a scrape while this replica leads. */
  agentVersions?: () => Iterable<string | undefined>
}

/** One per process; `text` returns what Prometheus reads. */
export function createMetrics({ clock, version, agentVersions = () => [] }: Options): Metrics {
  const registry = new Registry()
  const series = createSeries(registry)
  startAtZero(series)
  series.gauge('clustersync_build_info').set({ version }, 1)
  const scrape = new Scrape({ registry, series, clock, version, agentVersions })
  return {
    ...processEvents(series),
    observed: (key, status) => scrape.observed(key, status),
    limiting: (resource, limiter) => scrape.limiting(resource, limiter),
    leading: (leads) => scrape.leading(leads),
    text: (format) => scrape.text(format),
  }
}

/** The events that only change a metric. */
function processEvents(series: Series): Omit<Metrics, 'observed' | 'limiting' | 'leading' | 'text'> {
  const ended = (counter: ProcessMetric, histogram: ProcessMetric, how: Ended, durationMs: number): void => {
    series.counter(counter).inc(how === 'ok' ? { outcome: 'ok', reason: '' } : { outcome: 'failed', reason: how })
    series.histogram(histogram).observe(durationMs / 1000)
  }
  return {
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
    fetched: (how, ms) => ended('clustersync_source_requests_total', 'clustersync_source_request_duration_seconds', how, ms),
    signaturesChecked: (outcome) => series.counter('clustersync_signature_checks_total').inc({ outcome }),
    received(outcome, source, reason) {
      series.counter('clustersync_receiver_requests_total').inc({ outcome, source: source ?? '' })
      if (reason !== undefined) series.counter('clustersync_receiver_ignored_total').inc({ reason })
    },
    receiverOpen: (open) => series.gauge('clustersync_receiver_open').set(open ? 1 : 0),
    forbiddenNamespaces: (count) => series.gauge('clustersync_watched_namespaces_forbidden').set(count),
    admitted(outcome, durationMs) {
      series.counter('clustersync_admission_requests_total').inc({ outcome })
      series.histogram('clustersync_admission_duration_seconds').observe(durationMs / 1000)
    },
    delivered(route, code, bytes) {
      series.counter('clustersync_delivery_requests_total').inc({ route, code: String(code) })
      series.counter('clustersync_delivery_sent_bytes_total').inc(bytes)
    },
    streaming: (count) => series.gauge('clustersync_delivery_open_streams').set(count),
    certificate({ from, until }) {
      series.gauge('clustersync_certificate_issued_timestamp_seconds').set(from.epochMilliseconds / 1000)
      series.gauge('clustersync_certificate_expiry_timestamp_seconds').set(until.epochMilliseconds / 1000)
    },
    notified: (type, outcome) => series.counter('clustersync_notifications_total').inc({ type, outcome }),
    captured: (outcome) => series.counter('clustersync_captures_total').inc({ outcome }),
  }
}

type ScrapeDeps = Required<Options> & { registry: Registry; series: Series }

/** What a scrape shows of the GatewaySyncs, the agents and the limiters; only the leader counts them. */
class Scrape {
  readonly #deps: ScrapeDeps
  readonly #objects = new Map<string, Followed>()
  readonly #exemplars = new Map<string, Exemplar>()
  readonly #limiters = new Map<SharedResource, Pick<FairLimiter, 'uses'>>()
  #leads = false

  constructor(deps: ScrapeDeps) {
    this.#deps = deps
  }

  observed(key: string, status: GatewaySyncStatus | undefined): void {
    if (status === undefined) {
      this.#objects.delete(key)
      return
    }
    const { series, clock } = this.#deps
    const before = this.#objects.get(key)
    const applied = measureApplied(before?.status, status, before?.applied, clock.now())
    if (applied?.sincePublish !== undefined) series.histogram('clustersync_publish_to_applied_seconds').observe(applied.sincePublish)
    if (applied?.sincePush !== undefined) {
      series.histogram('clustersync_push_to_applied_seconds').observe(applied.sincePush)
      const requestId = status.source?.requested?.id
      if (requestId !== undefined) this.#note('clustersync_push_to_applied_seconds', applied.sincePush, requestId)
    }
    this.#objects.set(key, { status, applied: isReady(status) ? status.published?.commit : before?.applied })
  }

  limiting(resource: SharedResource, limiter: Pick<FairLimiter, 'uses'>): void {
    this.#limiters.set(resource, limiter)
  }

  leading(leads: boolean): void {
    this.#leads = leads
    this.#deps.series.gauge('clustersync_leader').set(leads ? 1 : 0)
    // Another replica follows them now; stale values here would contradict its own.
    if (!leads) this.#objects.clear()
  }

  async *text(format: Format = 'text'): AsyncGenerator<string> {
    const { registry, series, version, agentVersions } = this.#deps
    // A scrape shows one moment, even with a slow reader.
    yield* exposeObjects([...this.#objects].map(([key, { status }]) => [key, status] as const))
    // Each replica sees the reports of all agents; only the leader counts them.
    const counted = countSkews(version, this.#leads ? agentVersions() : [])
    for (const skew of skews) series.gauge('clustersync_agents').set({ skew }, counted[skew])
    exposeLimiters(series, this.#leads ? this.#limiters : new Map())
    const text = exposeProcess() + (await registry.metrics())
    yield format === 'openMetrics' ? toOpenMetrics(text, this.#exemplars) : text
  }

  /** Keeps the newest observation of each bucket as its exemplar. */
  #note(name: ProcessMetric, value: number, requestId: string): void {
    const { buckets = [] } = processMetrics[name] as Metric
    const bound = buckets.find((upper) => value <= upper) ?? '+Inf'
    // Prometheus rejects longer exemplars; ids that would need escaping are left out too.
    if (!/^[-\w.:/=+]{1,100}$/.test(requestId)) return
    this.#exemplars.set(`${name} ${bound}`, { requestId, value, atSeconds: this.#deps.clock.now().epochMilliseconds / 1000 })
  }
}

type Series = ReturnType<typeof createSeries>

function exposeLimiters(series: Series, limiters: ReadonlyMap<SharedResource, Pick<FairLimiter, 'uses'>>): void {
  const [waiting, used] = [series.gauge('clustersync_limiter_waiting'), series.counter('clustersync_limiter_used_seconds_total')]
  waiting.reset()
  used.reset()
  for (const [resource, limiter] of limiters) {
    const most = limiter.uses().toSorted((a, b) => b.usedSeconds - a.usedSeconds)
    for (const use of most.slice(0, maxNamespaces)) {
      waiting.set({ resource, namespace: use.tenant }, use.waiting)
      used.inc({ resource, namespace: use.tenant }, use.usedSeconds)
    }
  }
}

/** Collectors for all metrics of the table. Requesting one as another type than in the table is a bug, and throws. */
function createSeries(registry: Registry) {
  const made = new Map<string, Counter | Gauge | Histogram>()
  for (const [name, metric] of Object.entries<Metric>(processMetrics)) made.set(name, collector(name, metric, registry))
  const as = <Type extends Counter | Gauge | Histogram>(name: ProcessMetric, type: abstract new (...args: never[]) => Type): Type => {
    const found = made.get(name)
    if (found instanceof type) return found
    throw new Error(`metric ${name} is not of the requested type`)
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
  for (const name of ['clustersync_reconcile_total', 'clustersync_source_requests_total'] as const) {
    series.counter(name).inc({ outcome: 'ok', reason: '' }, 0)
    for (const reason of Object.keys(reasons)) series.counter(name).inc({ outcome: 'failed', reason }, 0)
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
  for (const outcome of signatureOutcomes) series.counter('clustersync_signature_checks_total').inc({ outcome }, 0)
  for (const type of notificationTypes) {
    for (const outcome of notificationOutcomes) series.counter('clustersync_notifications_total').inc({ type, outcome }, 0)
  }
  for (const outcome of captureOutcomes) series.counter('clustersync_captures_total').inc({ outcome }, 0)
  for (const outcome of admissionOutcomes) series.counter('clustersync_admission_requests_total').inc({ outcome }, 0)
  for (const route of deliveryRoutes) {
    for (const code of [200, ...refusedStatuses])
      series.counter('clustersync_delivery_requests_total').inc({ route, code: String(code) }, 0)
  }
}
