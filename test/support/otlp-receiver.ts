/**
 * A receiver of OTLP over HTTP with JSON bodies, according to its specification; records the spans that it receives.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `service`: of the resource; `failed`: the message of an error status. */
export type ReceivedSpan = {
  service: string
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  startedAtMs: number
  endedAtMs: number
  attributes: Record<string, string>
  failed: string | undefined
}

export type OtlpReceiver = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string
  spans: ReceivedSpan[]
  /** Errors in calls. */
  refused: string[]
  /** Statuses of the next answers. */
  answers: number[]
  stop(): Promise<void>
}

type Attribute = { key: string; value: { stringValue?: string } }
type Sent = {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: {
      spans: {
        traceId: string
        spanId: string
        parentSpanId?: string
        name: string
        kind: number
        startTimeUnixNano: string
        endTimeUnixNano: string
        attributes: Attribute[]
        status: { code?: number; message?: string }
      }[]
    }[]
  }[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    void take(request).then((status) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'))
  })
  const take = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const answer = receiver.answers.shift()
    if (answer !== undefined) return answer
    const { url, method, headers } = request
    if (url !== '/v1/traces' || method !== 'POST' || headers['content-type'] !== 'application/json') {
      receiver.refused.push(`${method} ${url} ${headers['content-type']}`)
      return 400
    }
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Sent
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = textsOf(resource.attributes)['service.name'] ?? ''
      for (const { traceId, spanId, parentSpanId = '', name, kind, ...span } of scopeSpans.flatMap(({ spans }) => spans)) {
        receiver.spans.push({
          service,
          traceId,
          spanId,
          parentSpanId,
          name,
          kind,
          startedAtMs: Number(span.startTimeUnixNano) / 1e6,
          endedAtMs: Number(span.endTimeUnixNano) / 1e6,
          attributes: textsOf(span.attributes),
          failed: span.status.code === 2 ? (span.status.message ?? '') : undefined,
        })
      }
    }
    return 200
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: OtlpReceiver = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    refused: [],
    answers: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

function textsOf(attributes: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? '']))
}
