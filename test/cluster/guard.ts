/**
 * `node test/cluster/guard.ts <folder> <pid> [flag...]`: runs etcd and kube-apiserver, this one with flags that replace ours of the same
 * name, below a folder until it is told to stop or the process it serves has gone, so that a test run which is killed leaves nothing
 * behind. Says in `ready.json` where everything is. On SIGUSR2 it kills the API server, drops the history of etcd and starts the server anew.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ensureProgram } from './binaries.ts'

const [folder = '', servedPid = '', ...givenFlags] = process.argv.slice(2)
const children: ChildProcess[] = []
/** Ended by us, to be started anew. */
const expected = new WeakSet<ChildProcess>()
let stopping = false
let restart: (() => Promise<void>) | undefined
/** How often the API server was started; `ready.json` says for which start it holds. */
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
  run(etcd, 'etcd', [
    `--data-dir=${at('etcd')}`,
    '--unsafe-no-fsync=true',
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    '--log-level=error',
  ])
  const adminToken = randomBytes(16).toString('hex')
  writeFileSync(at('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 })
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(at('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(at('sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  mkdirSync(at('certificates'))
  const flags = [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${at('certificates')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    `--token-auth-file=${at('tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at('sa.pub')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    '--profiling=false',
  ]
  const nameOf = (flag: string): string => flag.slice(0, flag.indexOf('='))
  const given = new Set(givenFlags.map(nameOf))
  const url = `https://127.0.0.1:${port}`
  const caFile = at('certificates/apiserver.crt')
  const startApiServer = async (): Promise<ChildProcess> => {
    const child = run(apiServer, 'kube-apiserver', [...flags.filter((flag) => !given.has(nameOf(flag))), ...givenFlags])
    await untilReady(url, caFile, adminToken)
    starts += 1
    writeFileSync(at('ready.tmp'), JSON.stringify({ url, caFile, adminToken, pid: process.pid, starts }), { mode: 0o600 })
    renameSync(at('ready.tmp'), at('ready.json'))
    return child
  }
  let server = await startApiServer()
  restart = async () => {
    expected.add(server)
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
    await compact(etcdUrl)
    server = await startApiServer()
  }
}

/** Whoever watched from an earlier revision is told 410, as after hours. */
async function compact(etcdUrl: string): Promise<void> {
  const ask = async (path: string, body: object): Promise<unknown> =>
    await (
      await fetch(`${etcdUrl}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) })
    ).json()
  const { header } = (await ask('range', { key: 'AA==' })) as { header: { revision: string } }
  await ask('compaction', { revision: header.revision, physical: true })
}

function run(program: string, name: string, args: string[]): ChildProcess {
  const log = openSync(path.join(folder, `${name}.log`), 'a')
  const child = spawn(program, args, { stdio: ['ignore', log, log] })
  child.on('exit', (code) => {
    if (!stopping && !expected.has(child))
      void fail(`${name} ended with ${code ?? 'a signal'}; its log is ${path.join(folder, `${name}.log`)}`)
  })
  children.push(child)
  return child
}

async function fail(why: string): Promise<void> {
  writeFileSync(path.join(folder, 'failed'), why)
  await stop(1, false)
}

async function untilReady(url: string, caFile: string, token: string): Promise<void> {
  const endMs = Date.now() + 60_000
  while (Date.now() < endMs) {
    if (await isReady(`${url}/readyz`, caFile, token)) return
    await wait(50)
  }
  throw new Error('kube-apiserver was not ready within 60 s')
}

function isReady(url: string, caFile: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const request = https.get(
        url,
        { ca: readFileSync(caFile), headers: { authorization: `Bearer ${token}` }, timeout: 2000 },
        (response) => {
          response.resume()
          resolve(response.statusCode === 200)
        },
      )
      request.on('error', () => resolve(false))
      request.on('timeout', () => request.destroy())
    } catch {
      resolve(false)
    }
  })
}

/** The API server first, while etcd still answers it. */
async function stop(code: number, clean = true): Promise<void> {
  if (stopping) return
  stopping = true
  for (const child of children.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 3_000)
    await ended
    clearTimeout(late)
  }
  if (clean) rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
