/**
 * Pictures of the docs show a real run: a picture has the same text as the current run, or is written from it with
 * `CLUSTER_SYNC_WRITE_PICTURES=1`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { ofAnyRun } from './shown-output.ts'
import { terminalPicture, wordsOfPicture } from './terminal-picture.ts'
import type { ScreenLine } from './terminal-screen.ts'

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
  // Line breaks depend on the length of durations.
  const words = (svg: string): string => ofAnyRun(wordsOfPicture(svg)).replaceAll(' ', '')
  t.equal(words(readFileSync(file, 'utf8')), words(picture), `${name}.svg says what is said now`)
  t.ok(picture.length < maxBytes, `${name}.svg has ${picture.length} bytes`)
}
