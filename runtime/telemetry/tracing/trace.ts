/**
 * Defines the spans of a request from the webhook to the scan. The trace id is the request's id, and the first span's id derives from it:
 * any process that knows the request, by its annotation or its status, can add to its trace. Pure.
 */
import { createHash } from 'node:crypto'
import type { Log } from '../../platform/log/log.ts'

/** A finished operation. `endedAtMs`: since the epoch. `reason`: `ok`, or why it failed. */
export type EndedSpan = {
  name: string
  kind?: 'server' | 'client'
  endedAtMs: number
  durationMs: number
  reason: string
  attributes?: Readonly<Record<string, string>>
  /** Its child spans. */
  parts?: readonly EndedSpan[]
}

/** Sends spans. Callers never wait, and what cannot be sent is dropped. */
export type Tracing = {
  /** The first span of a request, the parent of the others. */
  began(requestId: string, span: EndedSpan): void
  /** A child span of a request. */
  ended(requestId: string, span: EndedSpan): void
  /** Sends what is left, within some seconds. */
  close(): Promise<void>
}

/** The process that sends the spans. */
export type TracedProcess = { service: string; version: string; namespace: string; pod: string; log: Log }

/** Sends nothing. */
export const noTracing: Tracing = { began() {}, ended() {}, async close() {} }

/** Returns the ids of a request's trace and of its first span, in hexadecimal digits. */
export function idsOf(requestId: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(requestId).digest('hex')
  const digits = requestId.replaceAll('-', '').toLowerCase()
  // A manual request may have any id.
  return { traceId: /^[0-9a-f]{32}$/.test(digits) && /[1-9a-f]/.test(digits) ? digits : digest.slice(0, 32), spanId: digest.slice(32, 48) }
}
