#!/usr/bin/env node
// Starts the command line on a Node that is new enough, whichever Node found this file.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode } from '../scripts/node.mjs'

const cli = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../runtime/cli.ts')

const say = (line) => process.stderr.write(`cluster-sync: ${line}\n`)

const node = (() => {
  try {
    return findNode(say)
  } catch (error) {
    say(error.message)
    return process.exit(2)
  }
})()
if (node === process.execPath) {
  await import(cli)
} else {
  const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}
