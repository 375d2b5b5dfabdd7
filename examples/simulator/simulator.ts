/**
 * Simulates an Ignition 8.3 gateway: the HTTP API that this product uses, over a real data directory. It reads that directory at start
 * and at each scan, and does not start on the documented faults.
 */
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { createScans, type Kind, type Scans } from './scans.ts'
import { type Reading, readData } from './tree.ts'

export type SimulatorOptions = {
  dataDir: string
  name: string
  /** Default: any free one. */
  port?: number
  host?: string
  mode?: string
  /** `<name>:<secret>`; without one every call is accepted. */
  apiKey?: string
  tls?: { cert: string; key: string }
  startupMs?: number
  scanMs?: number
  /** False: a scan reads nothing, for benchmarks of other programs. */
  readsFiles?: boolean
  /** False: an older gateway without the lock route. */
  lockRoute?: boolean
  commissioning?: boolean
}

export type SimulatorState = 'STARTING' | 'RUNNING' | 'STOPPING' | 'FAULTED'
export type SimulatorRequest = { method: string; path: string; status: number; atMs: number }
export type SimulatedDesigner = { user: string; project: string }

export type Simulator = {
  url: string
  requests: SimulatorRequest[]
  state(): SimulatorState
  /** Why the gateway did not start. */
  faults(): string[]
  /** What it read last: at its start, or at the end of a scan. */
  reading(): Reading
  setDesigners(designers: readonly SimulatedDesigner[]): void
  /** The problems that the gateway reports from now on. */
  setProblems(problems: readonly string[]): void
  /** Modules that the gateway does not start. */
  setQuarantined(modules: readonly string[]): void
  /** The key that it accepts from now on. */
  setApiKey(apiKey: string): void
  /** Answers the next so many calls of a path with this status. */
  failNext(failure: { path: string; status: number; times: number }): void
  finishCommissioning(): void
  /** Restarts over the same directory. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const api = '/data/api/v1'

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { dataDir, name, mode, startupMs = 0, scanMs = 5, readsFiles = true } = options
  const requests: SimulatorRequest[] = []
  const failures: { path: string; status: number; times: number }[] = []
  let state: SimulatorState = 'STARTING'
  let commissioning = options.commissioning ?? false
  let designers: readonly SimulatedDesigner[] = []
  let problems: readonly string[] = []
  let quarantined: readonly string[] = []
  let { apiKey } = options
  let reading: Reading = { effective: new Map(), projects: [], faults: [], problems: [] }
  const scans: Scans = createScans({
    scanMs,
    finished() {
      if (readsFiles) reading = { ...readData(dataDir, mode), faults: reading.faults }
    },
  })
  const start = async (): Promise<void> => {
    state = 'STARTING'
    if (startupMs > 0) await new Promise((resolve) => setTimeout(resolve, startupMs))
    reading = readData(dataDir, mode)
    state = reading.faults.length > 0 ? 'FAULTED' : 'RUNNING'
  }

  const route = (request: http.IncomingMessage, body: string): Reply => {
    const [path = ''] = (request.url ?? '').split('?')
    const method = request.method ?? ''
    const failure = failures.find((entry) => entry.path === path && entry.times > 0)
    if (failure !== undefined) {
      failure.times -= 1
      return { status: failure.status, body: { message: 'asked to fail' } }
    }
    if (path === '/StatusPing')
      return { status: 200, body: { state, ...(commissioning && state === 'RUNNING' ? { details: 'COMMISSIONING' } : {}) } }
    if (path === '/system/gwinfo') return { status: 200, text: `ContextStatus=${state};RedundancyStatus=Independent;` }
    if (state !== 'RUNNING') return { status: 503, body: { message: state } }
    const scan = /^\/data\/api\/v1\/scan\/(projects|config)$/.exec(path)?.[1] as Kind | undefined
    if (commissioning)
      return scan === undefined ? { status: 302, location: '/welcome' } : { status: 400, body: { message: 'commissioning' } }
    if (!path.startsWith(api)) return { status: 404, body: { message: 'no such page' } }
    const refused = authorize(apiKey, request.headers['x-ignition-api-token'])
    if (refused !== undefined) return refused
    if (scan !== undefined) return method === 'POST' ? { status: 200, body: scans.start(scan) } : { status: 200, body: scans.state(scan) }
    const lock = /^\/data\/api\/v1\/scan-lock\/(projects|config)$/.exec(path)?.[1] as Kind | undefined
    if (lock !== undefined && options.lockRoute !== false) return lockReply(scans, lock, method, body)
    if (path === `${api}/gateway-info`)
      return {
        status: 200,
        body: { name, edition: 'standard', ignitionVersion: '8.3.3', redundancyRole: 'Independent', deploymentMode: mode ?? '' },
      }
    if (path === `${api}/designers`) return { status: 200, body: page(designers, request.url ?? '') }
    if (path === `${api}/overview/problems`)
      return { status: 200, body: { items: [...problems, ...reading.problems].map((message) => ({ message })) } }
    if (path === `${api}/modules/quarantined`) return { status: 200, body: { items: quarantined.map((name) => ({ name })) } }
    if (path === `${api}/restart-tasks/pending`) return { status: 200, body: { items: [] } }
    return { status: 404, body: { message: 'no such route' } }
  }

  const listener: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      if (chunks.length < 64) chunks.push(chunk)
    })
    request.on('end', () => {
      const reply = route(request, Buffer.concat(chunks).toString('utf8'))
      const [path = ''] = (request.url ?? '').split('?')
      requests.push({ method: request.method ?? '', path, status: reply.status, atMs: performance.now() })
      answer(response, reply)
    })
  }
  const server = options.tls === undefined ? http.createServer(listener) : https.createServer(options.tls, listener)
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, host, () => resolve())
  })
  const { port } = server.address() as AddressInfo
  const starting = start()
  if (startupMs === 0) await starting

  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    requests,
    state: () => state,
    faults: () => reading.faults,
    reading: () => reading,
    setDesigners(next) {
      designers = next
    },
    setProblems(next) {
      problems = next
    },
    setQuarantined(next) {
      quarantined = next
    },
    setApiKey(next) {
      apiKey = next
    },
    failNext(failure) {
      failures.push({ ...failure })
    },
    finishCommissioning() {
      commissioning = false
    },
    restart: start,
    async stop() {
      state = 'STOPPING'
      scans.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Reply = { status: number; body?: unknown; text?: string; location?: string }

/** Refuses a missing or unknown key with 401 and HTML, as a gateway does. A secret without its name is not a key. */
function authorize(expected: string | undefined, given: string | string[] | undefined): Reply | undefined {
  if (expected === undefined || given === expected) return undefined
  return { status: 401, text: '<html><body>HTTP ERROR 401 Unauthorized</body></html>' }
}

function lockReply(scans: Scans, kind: Kind, method: string, body: string): Reply {
  if (method === 'GET') {
    const lock = scans.lockOf(kind)
    return lock === undefined ? { status: 204 } : { status: 200, body: lock }
  }
  const times = parseTimes(body)
  if (times === undefined) return { status: 400, body: { message: 'acquireTimeout and holdTimeout are numbers of seconds' } }
  const lock = scans.lock(kind, 'api', times.holdTimeout * 1000)
  return lock === 'held' ? { status: 409, body: { message: 'the lock is held' } } : { status: 200, body: lock }
}

function parseTimes(body: string): { holdTimeout: number } | undefined {
  try {
    const value: unknown = body === '' ? {} : JSON.parse(body)
    if (typeof value !== 'object' || value === null) return undefined
    const { acquireTimeout = 10, holdTimeout = 60 } = value as Record<string, unknown>
    return typeof acquireTimeout === 'number' && typeof holdTimeout === 'number' ? { holdTimeout } : undefined
  } catch {
    return undefined
  }
}

function page(designers: readonly SimulatedDesigner[], url: string): unknown {
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  const limit = Number(query.get('limit') ?? 100)
  const offset = Number(query.get('offset') ?? 0)
  const items = designers.slice(offset, offset + limit).map(({ user, project }, index) => ({ id: offset + index, user, project }))
  return { items, metadata: { total: designers.length, matching: designers.length, limit, offset } }
}

function answer(response: http.ServerResponse, { status, body, text, location }: Reply): void {
  if (location !== undefined) response.setHeader('location', location)
  response.setHeader('content-type', text === undefined ? 'application/json' : 'text/html')
  response.statusCode = status
  response.end(status === 204 ? undefined : (text ?? (body === undefined ? '' : JSON.stringify(body))))
}
