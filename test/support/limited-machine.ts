/**
 * Runs a program of the tests as on a machine that lacks a tool or has a different one, without changing this machine: in a mount namespace
 * with a layer over /usr/bin.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './repository.ts'
import { absent, requires } from './requires.ts'

const programs = path.join(import.meta.dirname, 'programs')

/** Whether tools can be hidden here; if not, the test has been skipped (or failed under CI) and should return. */
export function mayTakeToolsAway(t: Test): boolean {
  if (process.geteuid?.() === 0) return requires(t, 'unshare', 'mount')
  return absent(t, 'only root may take a program away')
}

/** The differences: sh scripts by the name of the tool that they replace, and sh commands that run before the program. */
export type MachineLimits = { tools?: Readonly<Record<string, string>>; commands?: readonly string[] }

/**
 * The command prefix that runs a command on such a machine. `folder`: for the layer, not shared. `commands`, for sh, change /usr/bin for
 * that command only.
 */
export function limitedMachine(folder: string, commands: readonly string[]): string[] {
  const layers = path.join(folder, 'layers')
  mkdirSync(layers)
  const prepare = [
    `mount -t tmpfs none ${layers}`,
    `mkdir ${layers}/upper ${layers}/work`,
    `mount -t overlay -o lowerdir=/usr/bin,upperdir=${layers}/upper,workdir=${layers}/work none /usr/bin`,
    ...commands,
    'exec "$@"',
  ].join(' && ')
  return ['unshare', '--mount', 'sh', '-c', prepare, 'sh']
}

/** Runs a program of test/support/programs there with JSON input; returns its JSON output. */
export async function runThere(t: Test, { tools = {}, commands = [] }: MachineLimits, program: string, input: unknown): Promise<unknown> {
  const folder = temporaryFolder(t, 'machine')
  const replaced = Object.entries(tools).map(([name, script]) => {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(path.join(folder, name), 0o755)
    return `rm /usr/bin/${name} && cp ${folder}/${name} /usr/bin/${name}`
  })
  const [unshare = '', ...under] = limitedMachine(folder, [...replaced, ...commands])
  // tap's preloads would write to their own folder when the process ends.
  const env = { ...process.env, NODE_OPTIONS: '' }
  const args = [...under, process.execPath, path.join(programs, program)]
  return await new Promise((resolve, reject) => {
    const child = execFile(unshare, args, { env, timeout: 90_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout))
      else reject(new Error(stderr, { cause: error }))
    })
    child.stdin?.end(JSON.stringify(input))
  })
}
