/**
 * Tests the spans that an OTLP receiver gets.
 */
import t, { type Test } from 'tap'
import { createLog } from '../../../../runtime/platform/log/log.ts'
import { openTracing } from '../../../../runtime/telemetry/tracing/open.ts'
import { idsOf, noTracing, type Tracing } from '../../../../runtime/telemetry/tracing/trace.ts'
import { matchObject } from '../../../support/assertions.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../../support/otlp-receiver.ts'

const requestId = '0b0e5b0c-6a4e-4a43-9d0f-1f7a3f7f5c11'
const lines: string[] = []
const log = createLog({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } })
const endedAtMs = Date.parse('2026-01-01T08:00:00Z')

async function setUp(t: Test, ratio = 1): Promise<{ receiver: OtlpReceiver; open: (service: string) => Promise<Tracing> }> {
  const receiver = await startOtlpReceiver()
  t.teardown(async () => receiver.stop())
  const open = async (service: string): Promise<Tracing> =>
    await openTracing({ endpoint: `${receiver.endpoint}/`, ratio }, { service, version: '1.2.3', namespace: 'ns', pod: 'pod-0', log })
  return { receiver, open }
}

void t.test('spans of two processes form one trace with parents, times, attributes and failures', async (t) => {
  const { receiver, open } = await setUp(t)
  const [controller, agent] = [await open('controller'), await open('agent')]
  controller.began(requestId, { name: 'push', kind: 'server', endedAtMs, durationMs: 250.5, reason: 'ok', attributes: { ref: 'main' } })
  controller.ended(requestId, { name: 'git host queried', kind: 'client', endedAtMs, durationMs: 10, reason: 'GitUnreachable' })
  const scan = { name: 'scan', endedAtMs, durationMs: 5, reason: 'ok' }
  agent.ended(requestId, { name: 'sync', endedAtMs, durationMs: 20, reason: 'ok', parts: [scan] })
  await Promise.all([controller.close(), agent.close()])
  const { traceId, spanId } = idsOf(requestId)
  const of = (name: string) => receiver.spans.find((span) => span.name === name)
  t.strictSame(receiver.refused, [])
  t.equal(receiver.spans.length, 4)
  t.ok(receiver.spans.every((span) => span.traceId === traceId))
  matchObject(t, of('push'), {
    service: 'controller',
    spanId,
    parentSpanId: '',
    kind: 2,
    attributes: { ref: 'main', request_id: requestId },
  })
  t.strictSame([of('push')?.startedAtMs, of('push')?.endedAtMs], [endedAtMs - 250.5, endedAtMs])
  matchObject(t, of('git host queried'), { parentSpanId: spanId, kind: 3, failed: 'GitUnreachable' })
  matchObject(t, of('sync'), { service: 'agent', parentSpanId: spanId, kind: 1, failed: undefined })
  t.equal(of('scan')?.parentSpanId, of('sync')?.spanId)
  t.equal(new Set(receiver.spans.map((span) => span.spanId)).size, 4)
})

void t.test('with sampling both processes trace the same requests', async (t) => {
  const { receiver, open } = await setUp(t, 0.5)
  const [controller, agent] = [await open('controller'), await open('agent')]
  const ids = Array.from({ length: 64 }, (_, index) => `request ${index}`)
  for (const id of ids) {
    controller.began(id, { name: 'push', endedAtMs, durationMs: 1, reason: 'ok' })
    agent.ended(id, { name: 'sync', endedAtMs, durationMs: 1, reason: 'ok' })
  }
  await Promise.all([controller.close(), agent.close()])
  const tracesOf = (service: string) => receiver.spans.filter((span) => span.service === service).map(({ traceId }) => traceId)
  t.strictSame(tracesOf('controller').toSorted(), tracesOf('agent').toSorted())
  t.ok(tracesOf('agent').length > 0 && tracesOf('agent').length < ids.length)
})

void t.test('a refusing or unavailable receiver is logged and blocks nothing', async (t) => {
  const { receiver, open } = await setUp(t)
  const refused = await open('controller')
  receiver.answers.push(401)
  refused.began(requestId, { name: 'push', endedAtMs, durationMs: 1, reason: 'ok' })
  await refused.close()
  t.match(lines.join(''), /"component":"tracing","msg":"spans could not be sent"/)
  const away = await open('controller')
  await receiver.stop()
  away.began(requestId, { name: 'push', endedAtMs, durationMs: 1, reason: 'ok' })
  await t.resolves(away.close())
  t.strictSame(receiver.spans, [])
})

void t.test('without settings tracing is disabled', async (t) => {
  t.equal(await openTracing(undefined, { service: 's', version: 'v', namespace: 'n', pod: 'p', log }), noTracing)
})
