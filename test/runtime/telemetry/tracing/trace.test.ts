import t from 'tap'
import { idsOf, noTracing } from '../../../../runtime/telemetry/tracing/trace.ts'

void t.test('the trace ID is the request ID, and the ID of the first span is derived from it', async (t) => {
  const { traceId, spanId } = idsOf('0b0e5b0c-6a4e-4a43-9d0f-1f7a3f7f5c11')
  t.equal(traceId, '0b0e5b0c6a4e4a439d0f1f7a3f7f5c11')
  t.match(spanId, /^[0-9a-f]{16}$/)
  t.strictSame(idsOf('0b0e5b0c-6a4e-4a43-9d0f-1f7a3f7f5c11'), { traceId, spanId })
})

void t.test('any other request ID yields trace IDs of the same form', async (t) => {
  for (const id of ['by hand', '', '0'.repeat(32), 'x'.repeat(300)]) {
    t.match(idsOf(id).traceId, /^[0-9a-f]{32}$/, id)
    t.match(idsOf(id).traceId, /[1-9a-f]/, id)
  }
  t.not(idsOf('a').traceId, idsOf('b').traceId)
})

void t.test('without tracing every call is a no-op', async (t) => {
  noTracing.began('id', { name: 'push', endedAtMs: 1, durationMs: 1, reason: 'ok' })
  noTracing.ended('id', { name: 'sync', endedAtMs: 1, durationMs: 1, reason: 'ok' })
  await t.resolves(noTracing.close())
})
