/**
 * Formats log lines for a console instead of JSON. The formatting library is loaded on demand.
 */
import { isatty } from 'node:tty'
import type { DestinationStream } from 'pino'

/** One line each: time, level, message, fields; in color on a terminal. `to` is a file descriptor. */
export async function consoleDestination(to: 1 | 2): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ destination: to, sync: true, colorize: isatty(to), messageKey: 'msg', singleLine: true, errorLikeObjectKeys: ['err'] })
}
