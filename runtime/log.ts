/**
 * Structured logs: constant messages, fields from a fixed list, secrets redacted. Info marks changes of state; steady work is debug.
 */
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './log-level.ts'
import { redactUrls } from './redact.ts'

/** The fields that log lines may carry; the same words as conditions, metrics and SyncReports use. */
export type LogFields = {
  namespace?: string
  name?: string
  pod?: string
  ref?: string
  commit?: string
  reason?: string
  message?: string
  durationMs?: number
  requestId?: string
  status?: number
  count?: number
  path?: string
  gateway?: string
  component?: string
  err?: unknown
}

export type Log = {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Log
}

/** Longer texts say no more to whoever reads the log, and whoever sent them pays nothing for them. In characters. */
const maxText = 512
/** A stack with those of its causes. In characters. */
const maxStack = 4096
const maxCauses = 4

/** Writes lines of JSON. Each text is cut and redacted on its way in, so that a line costs no more than its bounds allow. */
export function createLog(options: { level: LogLevel; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${Temporal.Now.instant().toString({ smallestUnit: 'millisecond' })}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    messageKey: 'msg',
    serializers: { err: (told: unknown) => told },
  }
  return bounded(options.destination === undefined ? pino(settings) : pino(settings, options.destination))
}

function bounded(inner: Logger): Log {
  return {
    debug: (fields, message) => inner.debug(shown(fields), message),
    info: (fields, message) => inner.info(shown(fields), message),
    warn: (fields, message) => inner.warn(shown(fields), message),
    error: (fields, message) => inner.error(shown(fields), message),
    child: (fields) => bounded(inner.child(shown(fields))),
  }
}

function shown(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (name === 'err') return [name, shownError(value)]
      return [name, typeof value === 'string' ? redactUrls(value, maxText) : value]
    }),
  )
}

/** What is worth telling of anything thrown. Other members of an error, such as the request it failed for, are nobody's business. */
function shownError(thrown: unknown): Record<string, string> {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: redactUrls(String(thrown), maxText), stack: '' }
  const stacks: string[] = []
  for (let error: unknown = thrown; error instanceof Error && stacks.length < maxCauses; error = error.cause) {
    stacks.push(redactUrls(error.stack ?? error.message, maxStack))
  }
  return {
    type: thrown.name,
    message: redactUrls(thrown.message, maxText),
    stack: stacks.join('\ncaused by: ').slice(0, maxStack),
  }
}

/** A log that keeps nothing, for callers that have no use for one. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
