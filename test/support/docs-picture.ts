/**
 * A picture of the docs is of a real run: it says the same as this one, or with `CLUSTER_SYNC_WRITE_PICTURES=1` is made of this one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { ofAnyRun } from './shown-output.ts'
import { terminalPicture, wordsOfPicture } from './terminal-picture.ts'
import { linesOfScreen, type ScreenLine } from './terminal-screen.ts'

const folder = path.resolve(import.meta.dirname, '../../docs/pictures')
const maxBytes = 40_000

/** `title` and `columns` are those of the terminal. */
export function pictured(
  t: Pick<Test, 'equal' | 'ok'>,
  name: string,
  lines: readonly ScreenLine[],
  terminal: { title: string; columns: number },
): void {
  const file = path.join(folder, `${name}.svg`)
  const picture = terminalPicture(lines, terminal)
  if (process.env['CLUSTER_SYNC_WRITE_PICTURES'] === '1') writeFileSync(file, picture)
  // Where a line ends depends on how long it took.
  const words = (svg: string): string => ofAnyRun(wordsOfPicture(svg)).replaceAll(' ', '')
  t.equal(words(readFileSync(file, 'utf8')), words(picture), `${name}.svg says what is said now`)
  t.ok(picture.length < maxBytes, `${name}.svg has ${picture.length} bytes`)
}

/** The screen of a terminal in which one command after the other was typed, and printed this. */
export function screenOf(calls: readonly { command: string; output: string }[]): ScreenLine[] {
  const received = calls.flatMap(({ command, output }, index) => [
    { atMs: 3_000 * index, text: `${index === 0 ? '' : '\n'}$ ${command}\n` },
    { atMs: 3_000 * index + 900, text: output },
  ])
  return linesOfScreen(received.map(({ atMs, text }) => ({ atMs, text: text.replaceAll('\n', '\r\n') })))
}
