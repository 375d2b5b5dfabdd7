#!/usr/bin/env node
// Starts the command line on the Node that the project pins, whatever Node found this file: sources run as they are, which needs 26.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..')
const cli = path.join(root, 'runtime/cli.ts')
const oldest = 26

if (Number.parseInt(process.versions.node, 10) >= oldest) {
  await import(cli)
} else {
  const pinned = path.join(root, 'node_modules/node/bin/node')
  if (!existsSync(pinned)) {
    process.stderr.write(
      `cluster-sync: Node ${oldest} or newer is needed, this is ${process.version}; run npm ci to install the pinned one\n`,
    )
    process.exit(2)
  }
  const child = spawn(pinned, [cli, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}
