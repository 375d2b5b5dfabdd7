/**
 * Writes the output of the fleet commands: for a terminal, for a pipe, or as JSON.
 */
import { InvalidArgumentError, Option } from 'commander'
import { readNoColor } from '../../settings/environment.ts'
import type { Style } from '../../fleet/paint.ts'

export type Format = 'text' | 'json'

/** Line width if the terminal does not report one. */
const defaultWidth = 120
const narrowest = 80

/** The option `--format` of the fleet commands. */
export function formatOption(): Option {
  return new Option('--format <format>', 'output format').choices(['text', 'json']).default('text')
}

/** The destination of a command's output. */
export type Output = {
  style: Style
  /** Lines appear immediately, and the screen can be cleared. */
  isTerminal: boolean
  write(text: string): void
}

/** Standard output, with the width and colors of the terminal. */
export function standardOutput(): Output {
  const { isTTY, columns } = process.stdout
  const isPainted = isTTY && !readNoColor()
  return {
    style: { width: isTTY ? Math.max(narrowest, columns) : defaultWidth, color: isPainted, symbols: isPainted },
    isTerminal: isTTY,
    write: (text) => void process.stdout.write(text),
  }
}

/** Writes lines, each with a line end. */
export function print(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${line}\n`).join(''))
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Parses `90s`, `5m` or `1h`, the duration format of the product, into milliseconds. */
export function durationArgument(text: string): number {
  const [, amount = '', unit = ''] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? []
  if (amount === '') throw new InvalidArgumentError('must be a duration such as 90s, 5m or 1h.')
  return Number(amount) * (seconds[unit] ?? 1) * 1000
}
