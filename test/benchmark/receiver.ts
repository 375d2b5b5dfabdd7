/**
 * The webhook receiver over real HTTP, bundled and in its own process with the memory of a small container: the answer time at a steady rate,
 * the accepted and refused calls per second, the writes caused by a burst, and the cost of hostile bodies. Then the same for the whole
 * controller as its image starts it, on a real API server. Times include the load of everything else on the machine.
 */
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { systemClock } from '../../runtime/platform/clock.ts'
import { hostileBodies } from '../support/hostile-bodies.ts'
import { imageFlags } from '../support/image-flags.ts'
import { install, type Installation } from '../support/installation.ts'
import { bundlePrograms, memoryOf, peakWhile, type Process, startProcess } from '../support/measured-process.ts'
import { type MemoryCgroup, memoryCgroup } from '../support/memory-cgroup.ts'
import { until } from '../support/world.ts'
import { type Figure, percentile } from './figures.ts'

/** design: p99 50 ms at 200 deliveries a second. */
const perSecond = 200
const concurrency = 32
const connections = 256
/** Roughly the time that the API server takes for a merge patch. */
const writeMs = 5
const limitMiB = 128
const key = 'a key of some length'
const source = path.resolve(import.meta.dirname, '../support/receiver-process.ts')

/** `rounds`: deliveries per measurement. */
export async function run({ rounds = 2_000 }: { rounds?: number }): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cluster-sync-receiver-'))
  try {
    const [program = ''] = await bundlePrograms([source], folder)
    return [...(await within(program, (receiver) => speed(receiver, rounds))), ...(await hostile(program)), ...(await whole(rounds))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Receiver = Caller & { process: Process; cgroup: MemoryCgroup | undefined; writes(): Promise<number> }

/** Runs the work with its own receiver. */
async function within(program: string, work: (receiver: Receiver) => Promise<Figure[]>): Promise<Figure[]> {
  const cgroup = memoryCgroup(limitMiB)
  const child = await startProcess(program, [key, String(writeMs)], imageFlags('controller'), cgroup)
  const { url } = await child.ask<{ url: string }>({})
  const dispatcher = new Agent({ connections })
  try {
    const writes = async (): Promise<number> => (await child.ask<{ writes: number }>({})).writes
    return await work({ ...callerOf(url, dispatcher), process: child, cgroup, writes })
  } finally {
    await dispatcher.close()
    await child.stop()
    await cgroup?.remove()
  }
}

async function speed({ call, writes, cgroup }: Receiver, rounds: number): Promise<Figure[]> {
  const body = push()
  const [right, wrong] = [signed(body), signed('another')]
  // Enough GatewaySyncs that none is called more often than its rate limit allows.
  const plants = Math.max(50, Math.ceil(rounds / 25))
  await Promise.all(Array.from({ length: 200 }, (_, index) => call(`warm-${index}`, body, right)))
  return [
    { name: `memory limit${cgroup === undefined ? ', which could not be set here' : ''}`, value: limitMiB, unit: 'MiB' },
    ...(await atRate(rounds, (index) => call(`plant-${index % plants}`, body, right))),
    await throughput('accepted', rounds, 202, (index) => call(`plant-${index % plants}`, body, right)),
    // The receiver delays each refusal by 200 ms, so that calls on all connections are in flight.
    await throughput('rejected', rounds, 401, () => call('plant', body, wrong), connections),
    await burst(writes, 'one delivery repeated', () => call('burst', body, { ...right, 'x-github-delivery': 'one' })),
    await burst(writes, 'deliveries of one ref', (id) => call('burst', body, { ...right, 'x-github-delivery': id })),
  ]
}

type Caller = ReturnType<typeof callerOf>
type Headers = Record<string, string>

function callerOf(url: string, dispatcher: Agent, namespace = 'default') {
  return {
    async call(name: string, body: string | Buffer, headers: Headers): Promise<number> {
      const { statusCode, body: answer } = await dispatcher.request({
        origin: url,
        path: `/webhook/${namespace}/${name}`,
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-github-event': 'push', ...headers },
      })
      await answer.dump()
      return statusCode
    },
  }
}

/** Calls start on schedule, however long answers take, so a stall of the receiver shows in every call that waits meanwhile. */
async function atRate(rounds: number, call: (index: number) => Promise<number>): Promise<Figure[]> {
  const startMs = performance.now()
  const times = await Promise.all(
    Array.from({ length: rounds }, async (_, index) => {
      const dueMs = startMs + (index * 1_000) / perSecond
      await systemClock.wait(Math.max(0, dueMs - performance.now()))
      expectStatus(await call(index), 202)
      return performance.now() - dueMs
    }),
  )
  return [50, 99].map((p) => ({ name: `answer at ${perSecond} deliveries a second, p${p}`, value: percentile(times, p), unit: 'ms' }))
}

async function throughput(
  name: string,
  rounds: number,
  status: number,
  call: (index: number) => Promise<number>,
  atOnce = concurrency,
): Promise<Figure> {
  const startMs = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < rounds; index = next++) expectStatus(await call(index), status)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { name: `${name} calls`, value: Math.round((rounds * 1_000) / (performance.now() - startMs)), unit: '/s' }
}

/** The number of writes caused by 1,000 concurrent calls; each further write triggers the same sync once more. */
async function burst(writes: () => Promise<number>, what: string, call: (delivery: string) => Promise<number>): Promise<Figure> {
  const before = await writes()
  await Promise.all(Array.from({ length: 1_000 }, async (_, index) => expectStatus(await call(`d-${index}`), 202)))
  return { name: `writes for 1,000 calls at once, ${what}`, value: (await writes()) - before, unit: '' }
}

/** The memory that counts against the limit of a container: anonymous memory and the file pages that it read first. */
async function hostile(program: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, { body, status }] of Object.entries(hostileBodies())) {
    const headers = signed(body)
    figures.push(
      ...(await within(program, async ({ call, process, cgroup }) => {
        const restMiB = memoryOf(process.pid).anonymousMiB
        const { peak } = await peakWhile(process.pid, () =>
          Promise.all(Array.from({ length: 100 }, async () => expectStatus(await call('plant', body, headers), status))),
        )
        const figure = (what: string, value: number): Figure => ({ name: `${what}, 100 bodies of 1 MiB, ${name}`, value, unit: 'MiB' })
        return [
          ...(figures.length === 0 ? [{ name: 'anonymous memory before any call', value: Math.round(restMiB), unit: 'MiB' }] : []),
          figure('anonymous memory at most', Math.round(peak.anonymousMiB)),
          ...(cgroup === undefined ? [] : [figure('charged at most', Math.round(cgroup.peakMiB()))]),
        ]
      })),
    )
  }
  return figures
}

/** The shipped controller in a container with the shipped limits. */
async function whole(rounds: number): Promise<Figure[]> {
  const root = path.resolve(import.meta.dirname, '../..')
  await promisify(execFile)(process.execPath, [path.join(root, 'scripts/bundle.ts')])
  const cgroup = memoryCgroup(limitMiB)
  const inside = cgroup === undefined ? [] : [cgroup.enter.program, ...cgroup.enter.args]
  const command = [...inside, process.execPath, ...imageFlags('controller'), path.join(root, 'build/controller.js')]
  const teardowns: (() => unknown)[] = []
  const dispatcher = new Agent({ connections })
  try {
    const cluster = await install({ teardown: (handler: () => unknown) => void teardowns.push(handler) }, ['plant'], {}, { command })
    const namespace = cluster.namespace('plant')
    const plants = 50
    await makePlants(cluster, namespace, plants)
    const { call } = callerOf(cluster.receiver.url, dispatcher, namespace)
    const proof = { authorization: `Bearer ${cluster.receiver.token}` }
    // Nine of ten pushes are to branches that no GatewaySync follows; each of the others costs a request to the git host on the same
    // machine.
    const [body, other] = [push(), push('refs/heads/other')]
    const restMiB = memoryOf(cluster.controllerPid()).anonymousMiB
    const figures = [{ name: 'controller: anonymous memory at rest', value: Math.round(restMiB), unit: 'MiB' }]
    await Promise.all(Array.from({ length: 200 }, async (_, index) => call(`plant-${index % plants}`, other, proof)))
    const times = await atRate(rounds, (index) => call(`plant-${index % plants}`, index % 10 === 0 ? body : other, proof))
    figures.push(...times.map((figure) => ({ ...figure, name: `controller: ${figure.name}` })))
    for (const [name, { body: bad, status }] of Object.entries(hostileBodies())) {
      const { peak } = await peakWhile(cluster.controllerPid(), () =>
        Promise.all(Array.from({ length: 100 }, async () => expectStatus(await call('plant-0', bad, proof), status))),
      )
      figures.push({ name: `controller: anonymous memory, ${name}`, value: Math.round(peak.anonymousMiB), unit: 'MiB' })
    }
    if (cgroup !== undefined) figures.push({ name: 'controller: charged at most', value: Math.round(cgroup.peakMiB()), unit: 'MiB' })
    return figures
  } finally {
    await dispatcher.close()
    for (const handler of teardowns.toReversed()) await handler()
    await cgroup?.remove()
  }
}

/** Published GatewaySyncs of one repository. */
async function makePlants(cluster: Installation, namespace: string, count: number): Promise<void> {
  const { host } = cluster
  host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  const spec = {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  for (let index = 0; index < count; index += 1) await cluster.gatewaySync(namespace, `plant-${index}`, spec)
  for (let index = 0; index < count; index += 1) {
    await until(async () => (await cluster.status(namespace, `plant-${index}`)).published, `plant-${index} is published`, 120_000)
  }
}

function expectStatus(status: number, desired: number): void {
  if (status !== desired) throw new Error(`a call was answered ${status}, not ${desired}`)
}

function signed(body: string | Buffer): Headers {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` }
}

/** About as large as a push of ten commits. */
function push(ref = 'refs/heads/main'): string {
  const commit = () => ({
    id: 'c'.repeat(40),
    message: 'm'.repeat(200),
    author: { name: 'n', email: 'e' },
    added: [],
    removed: [],
    modified: ['a/b'],
  })
  return JSON.stringify({
    ref,
    before: 'a'.repeat(40),
    after: 'b'.repeat(40),
    commits: Array.from({ length: 10 }, commit),
  })
}
