/**
 * How much a process logs, from everything to faults alone. Pure.
 */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
