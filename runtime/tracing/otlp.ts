/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's own SDK. A bundle of its own, which a process loads only where it is told an endpoint.
 * The SDK reads the further variables of its specification, such as OTEL_EXPORTER_OTLP_HEADERS, by itself.
 */
import { type Context, diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type IdGenerator, RandomIdGenerator, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Log } from '../log.ts'
import type { TracingSettings } from './settings.ts'
import { type EndedSpan, idsOf, type TracedProcess, type Tracing } from './trace.ts'

/** What waits to be sent is some 200 KiB at most; more is dropped. */
const queue = { maxQueueSize: 512, maxExportBatchSize: 128, scheduledDelayMillis: 2_000, exportTimeoutMillis: 5_000 }

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT }

/** Begins to send at once. `settings.ratio` decides by the trace's id alone, so that all processes decide alike. */
export function openOtlp({ endpoint, ratio }: TracingSettings, { service, version, namespace, pod, log }: TracedProcess): Tracing {
  const failed = tellTroubles(log)
  const ids = createIds()
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: queue.exportTimeoutMillis })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.version': version,
      'k8s.namespace.name': namespace,
      'k8s.pod.name': pod,
    }),
    sampler: new TraceIdRatioBasedSampler(ratio),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter, ...queue })],
  })
  const tracer = provider.getTracer('cluster-sync', version)
  const send = (span: EndedSpan, attributes: Record<string, string>, parent: Context): void => {
    const { name, kind, endedAtMs, durationMs, reason, parts = [] } = span
    const sent = tracer.startSpan(
      name,
      {
        kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
        startTime: timeOf(endedAtMs - durationMs),
        attributes: { ...attributes, ...span.attributes },
      },
      parent,
    )
    if (reason !== 'ok') sent.setStatus({ code: SpanStatusCode.ERROR, message: reason })
    for (const part of parts) send(part, {}, trace.setSpan(parent, sent))
    sent.end(timeOf(endedAtMs))
  }
  return {
    began(requestId, span) {
      ids.next = idsOf(requestId)
      send(span, { request_id: requestId }, ROOT_CONTEXT)
    },
    ended(requestId, span) {
      const first = { ...idsOf(requestId), traceFlags: TraceFlags.SAMPLED, isRemote: true }
      send(span, { request_id: requestId }, trace.setSpanContext(ROOT_CONTEXT, first))
    },
    async close() {
      await provider.shutdown().catch(failed)
    },
  }
}

/** Seconds and nanoseconds: a number alone may be read as time since the process began. */
function timeOf(epochMs: number): [number, number] {
  const seconds = Math.floor(epochMs / 1000)
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)]
}

type Ids = IdGenerator & { next: ReturnType<typeof idsOf> | undefined }

/** Random ids, but for the next span where its ids are given. */
function createIds(): Ids {
  const random = new RandomIdGenerator()
  return {
    next: undefined,
    generateTraceId() {
      const traceId = this.next?.traceId ?? random.generateTraceId()
      this.next = undefined
      return traceId
    },
    // A span's own id is asked for first.
    generateSpanId() {
      return this.next?.spanId ?? random.generateSpanId()
    },
  }
}

/** What the SDK has to say is told without its text, which may hold headers. */
function tellTroubles(log: Log): () => void {
  const tell = (): void => log.warn({ component: 'tracing' }, 'spans could not be sent')
  diag.setLogger(
    { error: tell, warn: tell, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return tell
}
