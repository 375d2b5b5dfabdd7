/**
 * Starts a Kubernetes node with its control plane in its own namespaces. `inside` runs a program among its processes, where the API server,
 * pods and Services have their addresses.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isAlive, startOf } from '../processes.ts'
import { hasCgroups, removeCgroups } from './cgroups.ts'

/** The description of a running node, with paths as seen from inside. */
export type Ready = { url: string; caFile: string; adminToken: string; adminKubeconfig: string }

/** The process IDs of a node's keeper and first process on the machine. */
export type Keeper = { pid: number; startedAt: string | undefined; inner: number }

export type ClusterNode = {
  ready: Ready
  /** Logs and disk files of the node, on the machine. */
  folder: string
  /** Starts a program in the node's namespaces. */
  inside(program: string, args: readonly string[], options?: { env?: NodeJS.ProcessEnv; stdio?: StdioOptions }): ChildProcess
  /** Imports an image from an archive. The node only reaches registries in its own network. */
  importImage(archive: string): Promise<void>
  /** Resolves when the node has been removed completely. */
  stop(): Promise<void>
}

export type NodeOptions = {
  /** Host names that the cluster's DNS resolves to the node's address. */
  names?: readonly string[]
  /** False: neither DNS nor cert-manager. */
  addons?: boolean
  say?: (line: string) => void
}

/** Parameters of the node's first process, passed in an environment variable. */
export type NodeSettings = { names: readonly string[]; addons: boolean }
export const settingsVariable = 'CLUSTER_SYNC_NODE'

export const keeperFile = 'keeper.json'
const prefix = 'cluster-sync-node-'
/** The first start on a machine may have to build the programs. */
const startTimeoutMs = 3_600_000

/** Debian does not have network tools in the PATH of all users. */
export function programPath(): string {
  return [process.env['PATH'], '/usr/sbin', '/sbin', '/usr/bin', '/bin'].join(path.delimiter)
}

/** Starts a node and resolves when it accepts pods. `whyNoNode` checks the requirements. */
export async function startNode({ names = [], addons = true, say = () => undefined }: NodeOptions = {}): Promise<ClusterNode> {
  await removeLeftovers()
  const folder = path.join(os.tmpdir(), `${prefix}${randomUUID().slice(0, 8)}`)
  mkdirSync(folder, { mode: 0o700 })
  const log = openSync(path.join(folder, 'node.log'), 'a')
  const keeper = spawn(process.execPath, [path.join(import.meta.dirname, 'keeper.ts'), folder, String(process.pid)], {
    detached: true,
    stdio: ['ignore', log, log],
    // The tap command sets NODE_OPTIONS for every child process.
    env: { ...process.env, NODE_OPTIONS: '', [settingsVariable]: JSON.stringify({ names, addons } satisfies NodeSettings) },
  })
  keeper.unref()
  const gone = new Promise<void>((resolve) => keeper.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    keeper.ref()
    keeper.kill('SIGTERM')
    await gone
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const ready = await untilReady(folder, keeper, say)
    const { inner } = JSON.parse(readFileSync(path.join(folder, keeperFile), 'utf8')) as Keeper
    const inside: ClusterNode['inside'] = (program, args, { env = process.env, stdio = 'inherit' } = {}) =>
      spawn('nsenter', ['--target', String(inner), '--mount', '--net', '--pid', '--', program, ...args], {
        env: { ...env, PATH: programPath() },
        stdio,
      })
    return {
      ready,
      folder,
      inside,
      async importImage(archive) {
        const ctr = inside('ctr', ['--namespace', 'k8s.io', 'images', 'import', archive], { stdio: ['ignore', 'ignore', 'inherit'] })
        const code = await new Promise((resolve) => ctr.once('exit', resolve))
        if (code !== 0) throw new Error(`${archive} could not be imported: ctr ended with ${String(code)}`)
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(folder: string, keeper: ChildProcess, say: (line: string) => void): Promise<Ready> {
  const endMs = Date.now() + startTimeoutMs
  const told = { length: 0 }
  while (Date.now() < endMs) {
    for (const line of linesOf(path.join(folder, 'progress')).slice(told.length)) {
      told.length += 1
      say(line)
    }
    const ready = path.join(folder, 'ready.json')
    if (existsSync(ready) && existsSync(path.join(folder, keeperFile))) return JSON.parse(readFileSync(ready, 'utf8')) as Ready
    const failed = path.join(folder, 'failed')
    if (existsSync(failed)) throw new Error(`the node did not start: ${readFileSync(failed, 'utf8')}\n${diagnosis(folder)}`)
    if (keeper.exitCode !== null || keeper.signalCode !== null) throw new Error(`the node did not start\n${diagnosis(folder)}`)
    await wait(100)
  }
  throw new Error(`the node did not start within ${startTimeoutMs / 60_000} minutes\n${diagnosis(folder)}`)
}

/** The last lines of all logs of a node. */
export function diagnosis(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `--- ${name}\n${linesOf(path.join(folder, name)).slice(-15).join('\n')}`)
    .join('\n')
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

/** Removes the remains of nodes with a killed keeper; their processes have exited with it. */
export async function removeLeftovers(): Promise<void> {
  const names = readdirSync(os.tmpdir()).filter((name) => name.startsWith(prefix))
  for (const name of names) {
    const folder = path.join(os.tmpdir(), name)
    if (isKept(folder)) continue
    if (hasCgroups(name)) await removeCgroups(name)
    rmSync(folder, { recursive: true, force: true })
  }
}

function isKept(folder: string): boolean {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(path.join(folder, keeperFile), 'utf8')) as Keeper
    return isAlive(pid) && startOf(pid) === startedAt
  } catch {
    // A node that has just started has not written its keeper yet.
    return Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 60_000
  }
}
