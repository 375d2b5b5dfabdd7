import t from 'tap'
import { parseTracing, tracingEnvironment } from '../../../../runtime/telemetry/tracing/settings.ts'

void t.test('tracing is off without an endpoint', async (t) => {
  t.equal(parseTracing({}), undefined)
  t.equal(parseTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER_ARG: 'x' }), undefined)
  t.strictSame(tracingEnvironment(undefined), [])
})

void t.test('endpoint and sampling ratio are parsed, and passed on to another process unchanged', async (t) => {
  const endpoint = 'http://collector.monitoring:4318'
  t.strictSame(parseTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), { endpoint, ratio: 1 })
  const settings = parseTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/otlp`, OTEL_TRACES_SAMPLER_ARG: '0.25' })
  t.strictSame(settings, { endpoint: `${endpoint}/otlp`, ratio: 0.25 })
  t.strictSame(parseTracing(Object.fromEntries(tracingEnvironment(settings).map(({ name, value }) => [name, value]))), settings)
})

void t.test('an invalid value is refused with the name of its variable', async (t) => {
  for (const endpoint of ['collector:4318', 'grpc://collector', 'http://user:pass@collector', 'http://collector/?a=b'])
    t.throws(() => parseTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), /OTEL_EXPORTER_OTLP_ENDPOINT: must be an http/, endpoint)
  for (const ratio of ['2', 'all', '-1'])
    t.throws(
      () => parseTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', OTEL_TRACES_SAMPLER_ARG: ratio }),
      /OTEL_TRACES_SAMPLER_ARG/,
      ratio,
    )
})
