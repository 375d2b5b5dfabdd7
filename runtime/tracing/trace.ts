/**
 * What is told about the way of a request from the webhook to the scan, and where it is told. The trace of a request has its id, and its
 * first span an id that follows from it: whoever knows the request, by its annotation or its status, can add to its trace. Pure.
 */
import { createHash } from 'node:crypto'
import type { Log } from '../log.ts'

/** Something that has ended. `endedAtMs`: since the epoch. `reason`: `ok`, or why it failed. */
export type EndedSpan = {
  name: string
  kind?: 'server' | 'client'
  endedAtMs: number
  durationMs: number
  reason: string
  attributes?: Readonly<Record<string, string>>
  /** What it consisted of. */
  parts?: readonly EndedSpan[]
}

/** Where spans are sent. Nobody waits for it, and what cannot be sent is dropped. */
export type Tracing = {
  /** The first span of a request: what the others follow from. */
  began(requestId: string, span: EndedSpan): void
  /** A span that follows from a request. */
  ended(requestId: string, span: EndedSpan): void
  /** Sends what is left, within some seconds. */
  close(): Promise<void>
}

/** Whose spans they are. */
export type TracedProcess = { service: string; version: string; namespace: string; pod: string; log: Log }

/** Sends nothing. */
export const noTracing: Tracing = { began() {}, ended() {}, async close() {} }

/** The ids of the trace of a request and of its first span, in hexadecimal digits. */
export function idsOf(requestId: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(requestId).digest('hex')
  const digits = requestId.replaceAll('-', '').toLowerCase()
  // A request that a person wrote may have any id.
  return { traceId: /^[0-9a-f]{32}$/.test(digits) && /[1-9a-f]/.test(digits) ? digits : digest.slice(0, 32), spanId: digest.slice(32, 48) }
}
