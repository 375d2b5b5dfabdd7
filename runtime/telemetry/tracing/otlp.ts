/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's own SDK. A separate bundle, loaded only with a configured endpoint. The SDK reads the
 * further variables of its specification, such as OTEL_EXPORTER_OTLP_HEADERS, itself.
 */
import { type Context, diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type IdGenerator, RandomIdGenerator, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Log } from '../../platform/log/log.ts'
import type { TracingSettings } from './settings.ts'
import { type EndedSpan, idsOf, type TracedProcess, type Tracing } from './trace.ts'

/** The queue takes at most about 200 KiB; more is dropped. */
const queue = { maxQueueSize: 512, maxExportBatchSize: 128, scheduledDelayMillis: 2_000, exportTimeoutMillis: 5_000 }

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT }

/** Starts sending immediately. `settings.ratio` decides by the trace id alone, so that all processes make the same decision. */
export function openOtlp({ endpoint, ratio }: TracingSettings, { service, version, namespace, pod, log }: TracedProcess): Tracing {
  const failed = logFailures(log)
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

/** Seconds and nanoseconds: a plain number may be interpreted as time since the start of the process. */
function timeOf(epochMs: number): [number, number] {
  const seconds = Math.floor(epochMs / 1000)
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)]
}

type Ids = IdGenerator & { next: ReturnType<typeof idsOf> | undefined }

/** Generates random ids, except for the next span if its ids are given. */
function createIds(): Ids {
  const random = new RandomIdGenerator()
  return {
    next: undefined,
    generateTraceId() {
      const traceId = this.next?.traceId ?? random.generateTraceId()
      this.next = undefined
      return traceId
    },
    // The SDK requests a span's own id first.
    generateSpanId() {
      return this.next?.spanId ?? random.generateSpanId()
    },
  }
}

/** SDK errors are logged without their text, which may hold headers. */
function logFailures(log: Log): () => void {
  const tell = (): void => log.warn({ component: 'tracing' }, 'spans could not be sent')
  diag.setLogger(
    { error: tell, warn: tell, info() {}, debug() {}, verbose() {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return tell
}
