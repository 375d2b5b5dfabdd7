/**
 * `npm start`: a plant repository, two simulated gateways and the standalone runner, kept in step by pushes until Ctrl-C.
 * `npm start -- --once`: the same, with one push of its own; checks the files itself, prints one line and ends.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { requireGit } from './quickstart/needs.ts'
import { startQuickstart } from './quickstart/plant.ts'

const { once } = readArguments()
const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-quickstart-'))
const stop = new AbortController()
// Package managers may send the signal twice; the folder is removed anyway.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort(new Error(name)))

try {
  requireGit()
  await startQuickstart({ folder, once, say }, stop)
} catch (error) {
  say('red', error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function say(color: Parameters<typeof styleText>[0], line: string): void {
  process.stdout.write(`${styleText(color, line)}\n`)
}

function readArguments(): { once: boolean } {
  try {
    const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } })
    return values
  } catch (error) {
    process.stderr.write(`npm start: ${error instanceof Error ? error.message : String(error)}; the only option is --once\n`)
    return process.exit(2)
  }
}
