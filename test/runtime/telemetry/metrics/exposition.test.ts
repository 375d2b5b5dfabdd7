/**
 * Tests the OpenMetrics format, which Prometheus requests first.
 */
import t from 'tap'
import { contentTypes, formatFor, toOpenMetrics } from '../../../../runtime/telemetry/metrics/exposition.ts'

const text = [
  '# HELP pushes_total pushes',
  '# TYPE pushes_total counter',
  'pushes_total{outcome="ok"} 3',
  '',
  '# HELP whole_total a gauge of that name',
  '# TYPE whole_total gauge',
  'whole_total 1',
  '',
  '# HELP took_seconds how long',
  '# TYPE took_seconds histogram',
  'took_seconds_bucket{le="0.5"} 1',
  'took_seconds_bucket{le="+Inf"} 2',
  'took_seconds_sum 9',
  'took_seconds_count 2',
  '',
].join('\n')

void t.test('only counter samples end in _total, no line is empty, and the text ends with EOF', async (t) => {
  const lines = toOpenMetrics(text, new Map()).split('\n')
  t.strictSame(lines.slice(0, 3), ['# HELP pushes pushes', '# TYPE pushes counter', 'pushes_total{outcome="ok"} 3'])
  t.strictSame(lines.slice(3, 6), ['# HELP whole_total a gauge of that name', '# TYPE whole_total gauge', 'whole_total 1'])
  t.strictSame(lines.slice(-2), ['# EOF', ''])
  t.notOk(lines.slice(0, -1).includes(''))
})

void t.test('an exemplar follows its bucket', async (t) => {
  const exemplars = new Map([['took_seconds 0.5', { requestId: 'r-1', value: 0.25, atSeconds: 1_767_225_600 }]])
  const lines = toOpenMetrics(text, exemplars).split('\n')
  t.ok(lines.includes('took_seconds_bucket{le="0.5"} 1 # {request_id="r-1"} 0.25 1767225600'))
  t.ok(lines.includes('took_seconds_bucket{le="+Inf"} 2'))
})

void t.test('OpenMetrics is returned only if requested, plain text otherwise', async (t) => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  t.equal(formatFor(prometheus), 'openMetrics')
  for (const accept of [undefined, '', '*/*', 'text/plain', 'text/html']) t.equal(formatFor(accept), 'text', accept ?? 'none')
  t.match(contentTypes.text, /^text\/plain; version=0\.0\.4/)
})
