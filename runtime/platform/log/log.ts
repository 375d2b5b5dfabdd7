/**
 * Writes structured logs: constant messages, fields from a fixed list, secrets redacted. Info is for state changes; steady work is debug.
 */
import { type DestinationStream, type Logger, pino } from 'pino'
import { redactUrls } from './redact.ts'
import { Temporal } from '../temporal.ts'
import { escapeControls } from '../text/controls.ts'
import type { LogLevel } from './level.ts'

/** The fields of log lines, named as in conditions, metrics and SyncReports. */
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
  /** The plural of a Kubernetes kind. */
  kind?: string
  step?: string
  version?: string
  protocol?: string
  err?: unknown
  /** The failure is also an event, which `run` prints instead of the line. Not written. */
  hasEvent?: true
}

/** Messages are constant, so that lines can be counted; variable data is in fields. `child` adds its fields to every line. */
export type Log = {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Log
}

/** Texts are cut to this many characters: longer ones are of no use, and unauthenticated callers could fill the disk with them. */
const maxText = 512
/** Characters of a stack together with those of its causes. */
const maxStack = 4096
const maxCauses = 4

/** Writes lines of JSON. Each text is cut, redacted and escaped before it is written, so that no line exceeds its bounds. */
export function createLog(options: { level: LogLevel; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${Temporal.Now.instant().toString({ smallestUnit: 'millisecond' })}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    messageKey: 'msg',
    serializers: { err: (thrown: unknown) => thrown },
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

function shown({ hasEvent: _hasEvent, ...fields }: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (name === 'err') return [name, shownError(value)]
      return [name, typeof value === 'string' ? shownText(value) : value]
    }),
  )
}

/** Control characters are escaped: a console shows text of git hosts and repositories. */
function shownText(text: string, max = maxText): string {
  return escapeControls(redactUrls(text, max))
}

/** The loggable part of anything thrown. Other members of an error, such as the failed request, may hold secrets. */
function shownError(thrown: unknown): Record<string, string> {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: shownText(String(thrown)), stack: '' }
  const stacks: string[] = []
  for (let error: unknown = thrown; error instanceof Error && stacks.length < maxCauses; error = error.cause) {
    stacks.push(shownText(error.stack ?? error.message, maxStack))
  }
  return {
    type: thrown.name,
    message: shownText(thrown.message),
    stack: stacks.join('\ncaused by: ').slice(0, maxStack),
  }
}

/** Returns a log whose lines carry the request id; the same log without one. */
export function logOf(log: Log, requestId: string | undefined): Log {
  return requestId === undefined ? log : log.child({ requestId })
}

/** A log that drops everything. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
