/**
 * Defines the log levels. Pure, and apart from log.ts, so that settings and commands do not load the library of the log.
 */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
