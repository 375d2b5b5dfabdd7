/**
 * A real etcd and kube-apiserver on loopback. All test files of a run share one; outside a run, and for tests that change cluster-wide
 * state, each caller has its own.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { writeKubeconfig } from './api-server.ts'
import { ensureProgram } from './binaries.ts'
import { isAlive } from './processes.ts'

export type ControlPlane = {
  url: string
  /** Of etcd, which keeps running when the API server restarts. */
  etcdUrl: string
  caFile: string
  /** The key that the API server uses to sign ServiceAccount tokens. */
  tokenKeyFile: string
  /** Of a member of system:masters. */
  adminKubeconfig: string
  kubectl(args: readonly string[], input?: string): Promise<{ stdout: string; stderr: string; code: number }>
  /** Writes a kubeconfig that authenticates with a token. */
  kubeconfigFor(token: string): string
  /** Kills the API server, drops the history of etcd, and resolves when the server is ready again. Only for an unshared control plane. */
  restartApiServer(): Promise<void>
  stop(): Promise<void>
}

/** The first start on a machine may have to build kube-apiserver. */
const startTimeoutMs = 900_000
const restartTimeoutMs = 90_000

export type ControlPlaneOptions = {
  shared?: boolean
  /** Flags of an unshared kube-apiserver; each replaces the default of the same name. */
  apiServerArgs?: readonly `--${string}=${string}`[]
}

export async function startControlPlane({ shared = true, apiServerArgs = [] }: ControlPlaneOptions = {}): Promise<ControlPlane> {
  if (shared && apiServerArgs.length > 0) throw new Error('only a control plane of its own can have flags of its own')
  const run = shared ? process.env['CLUSTER_SYNC_TEST_RUN'] : undefined
  const parent = existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir()
  const folder = path.join(parent, `cluster-sync-plane-${run ?? randomUUID()}`)
  if (isMade(folder)) startGuard(folder, run ?? String(process.pid), apiServerArgs)
  const ready = await untilReady(folder)
  const kubeconfigFor = (token: string): string => writeKubeconfig(path.join(folder, `kubeconfig-${randomUUID()}`), { ...ready, token })
  const adminKubeconfig = kubeconfigFor(ready.adminToken)
  const kubectl = await ensureProgram('kubectl', () => undefined)
  return {
    url: ready.url,
    etcdUrl: ready.etcdUrl,
    caFile: ready.caFile,
    tokenKeyFile: path.join(folder, 'sa.key'),
    adminKubeconfig,
    kubeconfigFor,
    kubectl: (args, input) => execute(kubectl, ['--kubeconfig', adminKubeconfig, ...args], input),
    async restartApiServer() {
      if (run !== undefined) throw new Error('only a control plane of its own can be restarted')
      const { starts } = readReady(folder)
      process.kill(ready.pid, 'SIGUSR2')
      const endMs = Date.now() + restartTimeoutMs
      while (readReady(folder).starts === starts) {
        if (Date.now() > endMs) throw new Error(`the API server did not come back; see ${folder}`)
        await wait(50)
      }
    },
    async stop() {
      // The shared control plane serves other files too and stops at the end of the run.
      if (run !== undefined || !isAlive(ready.pid)) return
      process.kill(ready.pid, 'SIGTERM')
      while (isAlive(ready.pid)) await wait(50)
    },
  }
}

type Ready = { url: string; etcdUrl: string; caFile: string; adminToken: string; pid: number; starts: number }

function readReady(folder: string): Ready {
  return JSON.parse(readFileSync(path.join(folder, 'ready.json'), 'utf8')) as Ready
}

/** True for the one caller that created the folder. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch {
    return false
  }
}

function startGuard(folder: string, servedPid: string, apiServerArgs: readonly string[]): void {
  const log = openSync(path.join(folder, 'guard.log'), 'a')
  const guard = path.join(import.meta.dirname, 'guard.ts')
  spawn(process.execPath, [guard, folder, servedPid, ...apiServerArgs], { detached: true, stdio: ['ignore', log, log] }).unref()
}

async function untilReady(folder: string): Promise<Ready> {
  const endMs = Date.now() + startTimeoutMs
  while (Date.now() < endMs) {
    if (existsSync(path.join(folder, 'ready.json'))) return readReady(folder)
    const failed = path.join(folder, 'failed')
    if (existsSync(failed)) throw new Error(`the control plane did not start: ${readFileSync(failed, 'utf8')}`)
    await wait(50)
  }
  throw new Error(`the control plane did not start within ${startTimeoutMs / 1000} s; see ${folder}`)
}

function execute(
  program: string,
  args: readonly string[],
  input: string | undefined,
): Promise<{ stdout: string; stderr: string; code: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: 60_000 })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ stdout, stderr, code: code ?? 1 }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
  })
}
