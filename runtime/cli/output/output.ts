/**
 * Writes the output of the commands for a terminal, for a pipe, or as JSON; nothing else in the CLI writes to the standard streams, so that
 * control characters in text of others are always escaped. Also sets exit codes (0 yes, 1 no, 2 unknown), and prints why a command failed.
 */
import { InvalidArgumentError, Option } from 'commander'
import { readNoColor } from '../../settings/environment.ts'
import { Fault, type Reason } from '../../platform/fault.ts'
import { nextStep } from './next-steps.ts'
import { escapeControls } from '../../platform/text/controls.ts'
import type { Style } from '../../fleet/terminal.ts'

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
  /** Writes text as it is; `print` escapes text of others. */
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

/** Writes lines, each with a line end. Control characters in text of others are escaped. */
export function print(output: Output, lines: readonly string[]): void {
  output.write(escapeControls(lines.map((line) => `${line}\n`).join(''), output.style))
}

/** Writes a message to standard error. */
export function printError(message: string): void {
  writeError(`cluster-sync: ${message}\n`)
}

/** Writes text to standard error, where control characters are escaped too. */
export function writeError(text: string, style: Pick<Style, 'color'> = { color: false }): void {
  process.stderr.write(escapeControls(text, style))
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Parses `90s`, `5m` or `1h`, the duration format of the product, into milliseconds. */
export function durationArgument(text: string): number {
  const [, amount = '', unit = ''] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? []
  if (amount === '') throw new InvalidArgumentError('must be a duration such as 90s, 5m or 1h.')
  return Number(amount) * (seconds[unit] ?? 1) * 1000
}

/** Everything is in sync, or the requested change is done. */
export const exitYes = 0
/** Something is not in sync, or the requested change was not made. */
export const exitNo = 1
/** Wrong options, no access, or no answer: the state is unknown. */
export const exitUnknown = 2

/** Sets the exit code that `work` returns; prints a Fault as one line on standard error. */
export async function exitWith(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    printFault(error)
    process.exitCode = exitUnknown
  }
}

/** Lines on standard error. */
export function printFault(fault: Fault): void {
  const { message, reason, next } = explained(fault)
  printError(`${message} (${reason})${next === undefined ? '' : `\n  next: ${next}`}`)
}

/** A fault with the next step, which a message about options or a file already contains. */
export function explained({ message, reason: own, cause }: Fault): { message: string; reason: Reason; next: string | undefined } {
  // The original reason of a fault that was wrapped only for its exit code.
  const reason = cause instanceof Fault && cause.message === message ? cause.reason : own
  return { message, reason, next: reason === 'InvalidConfiguration' ? undefined : nextStep(reason) }
}
