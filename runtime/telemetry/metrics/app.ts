/**
 * Serves the controller's ports for Prometheus and the kubelet: /metrics, for authorized callers, and /healthz and /readyz with reasons.
 */
import { Hono } from 'hono'
import type { Context } from 'hono'
import { type LimitSettings, guard } from '../../http/limits.ts'
import { problem } from '../../http/problem.ts'
import { asFault } from '../../platform/fault.ts'
import { contentTypes, type Format, formatFor } from './exposition.ts'

/** What the bearer of a token may do; `unauthenticated`: the token is not valid. */
export type MetricsAccess = 'allowed' | 'unauthenticated' | 'forbidden'

/** `text` generates the metrics in a format, in pieces on demand; `authorize` decides by the bearer token. */
export type MetricsDeps = {
  text(format: Format): AsyncIterable<string>
  /** Whether the bearer of a token may get the non-resource URL /metrics. Throws ApiUnavailable, which becomes a 503. */
  authorize(token: string): Promise<MetricsAccess>
}

/** Enough for some scrapers; an unknown token costs two calls to the API server. */
const metricsLimits: LimitSettings = { perSecond: 50, callsPerPeer: 30, failuresPerPeer: 20 }
/** Longer than any token of a ServiceAccount or an identity provider. */
const maxTokenBytes = 16_384

/** The app of the metrics port; `authorize` decides by the caller's token. */
export function metricsApp({ text, authorize }: MetricsDeps): Hono {
  const app = new Hono()
  app.use(guard(metricsLimits))
  app.get('/metrics', async (context) => {
    const token = bearer(context.req.header('authorization'))
    const access = token === undefined ? 'unauthenticated' : await authorize(token)
    if (access === 'unauthenticated') {
      context.header('www-authenticate', 'Bearer')
      return problem(context, 401, 'a bearer token of this cluster is required')
    }
    if (access === 'forbidden') return problem(context, 403, 'the token does not permit access to the non-resource URL /metrics')
    const format = formatFor(context.req.header('accept'))
    return context.body(ReadableStream.from(encoded(text(format))), 200, { 'content-type': contentTypes[format] })
  })
  app.notFound((context) => problem(context, 404, 'use /metrics'))
  app.onError((error, context) => {
    context.header('retry-after', '5')
    return problem(context, 503, `the token could not be checked: ${asFault(error).reason}`)
  })
  return app
}

/** Returns why a probe fails, one line per reason; empty when healthy. */
export type Probe = () => readonly string[]

/** `/healthz` and `/readyz` for the kubelet: 200, or 503 with the reasons. */
export function probesApp({ live, ready }: { live: Probe; ready: Probe }): Hono {
  const app = new Hono()
  app.get('/healthz', (context) => answer(context, live()))
  app.get('/readyz', (context) => answer(context, [...live(), ...ready()]))
  return app
}

function answer(context: Context, why: readonly string[]): Response {
  return why.length === 0 ? context.text('ok\n') : context.text(why.map((line) => `${line}\n`).join(''), 503)
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece)
}

function bearer(header: string | undefined): string | undefined {
  if (header === undefined || header.length > maxTokenBytes) return undefined
  return /^Bearer +([^\s]+)$/i.exec(header)?.[1]
}
