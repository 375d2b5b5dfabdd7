/**
 * How the commands about a fleet write: for a person at a terminal, for a pipe, or as JSON for programs.
 */
import { InvalidArgumentError, Option } from 'commander'
import { readNoColour } from '../../config.ts'
import type { Style } from '../../fleet/paint.ts'

export type Format = 'text' | 'json'

/** Where nobody says how wide a line may be. */
const usualWidth = 120
const narrowest = 80

/** The option `--format` of the commands about a fleet. */
export function formatOption(): Option {
  return new Option('--format <format>', 'text for people, json for programs').choices(['text', 'json']).default('text')
}

/** Calls that a help text ends with. */
export function examples(...calls: readonly string[]): string {
  return `\nExamples:\n${calls.map((call) => `  cluster-sync ${call}\n`).join('')}\nMore: docs/fleet.md`
}

/** Where a command writes. */
export type Output = {
  style: Style
  /** A person sees each line as it comes, and the screen can be cleared. */
  isTerminal: boolean
  write(text: string): void
}

/** Where a command of a terminal writes, and how wide and colourful that may be. */
export function standardOutput(): Output {
  const { isTTY, columns } = process.stdout
  const isPainted = isTTY && !readNoColour()
  return {
    style: { width: isTTY ? Math.max(narrowest, columns) : usualWidth, colour: isPainted, symbols: isPainted },
    isTerminal: isTTY,
    write: (text) => void process.stdout.write(text),
  }
}

/** Writes lines, each with its end. */
export function print(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${line}\n`).join(''))
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** `90s`, `5m`, `1h` in ms: how the product writes durations. */
export function durationArgument(text: string): number {
  const [, amount = '', unit = ''] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? []
  if (amount === '') throw new InvalidArgumentError('must be a duration such as 90s, 5m or 1h.')
  return Number(amount) * (seconds[unit] ?? 1) * 1000
}
