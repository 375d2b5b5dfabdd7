/**
 * Structured logs: constant messages, fields from a fixed list, secrets redacted. Info marks changes of state; steady work is debug.
 */
import { pino, type DestinationStream } from 'pino'

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
  reconcile?: string
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

/** Redacts the user part of every URL in a text: `https://user:secret@host` becomes `https://***@host`. */
export function redactUrls(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, '$1***@')
}

export function createLog(options: { level: 'debug' | 'info' | 'warn' | 'error'; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${Temporal.Now.instant().toString({ smallestUnit: 'millisecond' })}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    messageKey: 'msg',
    hooks: {
      streamWrite: redactUrls,
    },
  }
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination)
}

/** A log that keeps nothing, for callers that have no use for one. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
