/**
 * `node test/cluster/guard.ts <folder> <pid> [flag...]`: runs etcd and kube-apiserver below a folder until it receives a signal or the
 * process it serves has exited, so that a killed test run leaves nothing behind. The flags replace defaults of kube-apiserver with the same
 * name. Writes paths and addresses to `ready.json`. On SIGUSR2 it kills the API server, drops the history of etcd and restarts the server.
 */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { apiServerArguments, caFileOf, etcdArguments, replaced, untilApiServerReady } from './api-server.ts'
import { freePort } from '../support/ports.ts'
import { ensureProgram } from './binaries.ts'
import { startChildren } from './children.ts'
import { isAlive } from './processes.ts'

const [folder = '', servedPid = '', ...givenFlags] = process.argv.slice(2)
const children = startChildren(folder, (why) => void fail(why))
let stopping = false
let restart: (() => Promise<void>) | undefined
/** The number of API server starts; `ready.json` names the start that it describes. */
let starts = 0

process.on('SIGTERM', () => void stop(0))
process.on('SIGINT', () => void stop(0))
process.on('SIGUSR2', () => void restart?.().catch((error: unknown) => void fail(String(error))))

try {
  await start()
  for (;;) {
    await wait(500)
    if (!isAlive(Number(servedPid))) await stop(0)
  }
} catch (error) {
  writeFileSync(path.join(folder, 'failed'), error instanceof Error ? error.message : String(error))
  await stop(1)
}

async function start(): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  const [etcd, apiServer] = [await ensureProgram('etcd', say), await ensureProgram('kube-apiserver', say)]
  const [clientPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()])
  const at = (name: string): string => path.join(folder, name)
  const etcdUrl = `http://127.0.0.1:${clientPort}`
  children.run(etcd, 'etcd', etcdArguments(folder, etcdUrl, `http://127.0.0.1:${peerPort}`))
  const adminToken = randomBytes(16).toString('hex')
  const accounts = [{ token: adminToken, user: 'admin', groups: ['system:masters'] }]
  const flags: string[] = apiServerArguments({ folder, etcdUrl, address: '127.0.0.1', port, accounts })
  const url = `https://127.0.0.1:${port}`
  const caFile = caFileOf(folder)
  const startApiServer = async (): Promise<ChildProcess> => {
    const child = children.run(apiServer, 'kube-apiserver', replaced(flags, givenFlags))
    await untilApiServerReady(url, caFile, adminToken)
    starts += 1
    writeFileSync(at('ready.tmp'), JSON.stringify({ url, etcdUrl, caFile, adminToken, pid: process.pid, starts }), { mode: 0o600 })
    renameSync(at('ready.tmp'), at('ready.json'))
    return child
  }
  let server = await startApiServer()
  restart = async () => {
    await children.end(server, 'SIGKILL')
    await compact(etcdUrl)
    server = await startApiServer()
  }
}

/** Watches from an earlier revision get 410, as after hours. */
async function compact(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: object): Promise<unknown> =>
    await (
      await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) })
    ).json()
  const { header } = (await ask('range', { key: 'AA==' })) as { header: { revision: string } }
  await ask('compaction', { revision: header.revision, physical: true })
}

async function fail(why: string): Promise<void> {
  if (stopping) return
  writeFileSync(path.join(folder, 'failed'), why)
  await stop(1, false)
}

async function stop(code: number, clean = true): Promise<void> {
  if (stopping) return
  stopping = true
  await children.stop()
  if (clean) rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
