/**
 * The push receiver over real HTTP, caller and receiver in one process but for memory: how long an answer takes at a steady rate, how many calls a second
 * are accepted and refused, what a burst becomes, and what hostile bodies cost. The times hold the caller's share too.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { Agent } from 'undici'
import { systemClock } from '../../runtime/clock.ts'
import { silentLog } from '../../runtime/log.ts'
import { receiverApp } from '../../runtime/receiver/app.ts'
import { serve } from '../../runtime/serve.ts'
import { type Figure, percentile } from './figures.ts'

/** design: p99 50 ms at 200 deliveries a second. */
const perSecond = 200
const concurrency = 32
/** About what the API server takes for a merge patch. */
const writeMs = 5
const key = 'a key of some length'
const unlimited = { perSecond: Number.MAX_SAFE_INTEGER, failuresPerPeer: Number.MAX_SAFE_INTEGER }

/** `rounds`: deliveries of each measurement. */
export async function run({ rounds = 2_000 }: { rounds?: number }): Promise<Figure[]> {
  const requests: string[] = []
  const stop = new AbortController()
  const app = receiverApp({
    lookup: () => ({ specRef: 'main', wantedRef: 'main', allowedRefs: undefined }),
    keys: async () => ({ hmac: [key], tokens: undefined }),
    async request(_namespace, name) {
      await systemClock.wait(writeMs)
      requests.push(name)
    },
    observe() {},
    limits: unlimited,
    clock: systemClock,
    log: silentLog,
  })
  const served = await serve({ app, port: 0, host: '127.0.0.1', log: silentLog }, stop.signal)
  const dispatcher = new Agent({ connections: 256 })
  const caller = callerOf(served.url, dispatcher)
  try {
    const body = push()
    await Promise.all(Array.from({ length: 200 }, (_, index) => caller.call(`warm-${index}`, body, signed(body))))
    const [right, wrong] = [signed(body), signed('another')]
    return [
      ...(await atRate(rounds, (index) => caller.call(`plant-${index % 50}`, body, right))),
      await throughput('accepted', rounds, 202, (index) => caller.call(`plant-${index % 50}`, body, right)),
      await throughput('rejected', rounds, 401, () => caller.call('plant', body, wrong)),
      await burst(requests, 'one delivery repeated', () => caller.call('burst', body, { ...right, 'x-github-delivery': 'one' })),
      await burst(requests, 'deliveries of one ref', (id) => caller.call('burst', body, { ...right, 'x-github-delivery': id })),
      ...(await hostile(dispatcher)),
    ]
  } finally {
    stop.abort()
    await dispatcher.close()
    await served.closed
  }
}

type Headers = Record<string, string>

function callerOf(url: string, dispatcher: Agent) {
  return {
    async call(name: string, body: string | Buffer, headers: Headers): Promise<number> {
      const { statusCode, body: answer } = await dispatcher.request({
        origin: url,
        path: `/webhook/default/${name}`,
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-github-event': 'push', ...headers },
      })
      await answer.dump()
      return statusCode
    },
  }
}

/** Calls start by the clock, however long answers take: a receiver that stalls shows it in every call that waits meanwhile. */
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

async function throughput(name: string, rounds: number, status: number, call: (index: number) => Promise<number>): Promise<Figure> {
  const startMs = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < rounds; index = next++) expectStatus(await call(index), status)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { name: `${name} calls`, value: Math.round((rounds * 1_000) / (performance.now() - startMs)), unit: '/s' }
}

/** What 1,000 calls at once become; each write is one more reason for the same sync. */
async function burst(requests: string[], what: string, call: (delivery: string) => Promise<number>): Promise<Figure> {
  const before = requests.length
  await Promise.all(Array.from({ length: 1_000 }, async (_, index) => expectStatus(await call(`d-${index}`), 202)))
  return { name: `writes for 1,000 calls at once, ${what}`, value: requests.length - before, unit: '' }
}

/**
 * 100 bodies of 1 MiB at once that would cost a hundred times their size if they were parsed, all signed, to a receiver in a process of its
 * own. What the process holds before any call stands beside its peaks.
 */
async function hostile(dispatcher: Agent): Promise<Figure[]> {
  const child = fork(path.resolve(import.meta.dirname, '../support/receiver-process.ts'), [key])
  try {
    const { url } = await nextMessage<{ url: string }>(child)
    const peak = async (): Promise<number> => {
      child.send('peak')
      return Math.round((await nextMessage<{ peakKiB: number }>(child)).peakKiB / 1024)
    }
    const { call } = callerOf(url, dispatcher)
    const size = 1024 * 1024 - 16
    const bodies = { 'many keys': Buffer.from(`{${'"a":1,'.repeat(size / 6)}"b":1}`), 'deep nesting': Buffer.from('['.repeat(size)) }
    const figures = [{ name: 'memory of a receiver before any call', value: await peak(), unit: 'MiB' }]
    for (const [name, body] of Object.entries(bodies)) {
      const headers = signed(body)
      const statuses = await Promise.all(Array.from({ length: 100 }, () => call('plant', body, headers)))
      for (const status of statuses) expectStatus(status, 422)
      figures.push({ name: `memory at most, 100 bodies of 1 MiB, ${name}`, value: await peak(), unit: 'MiB' })
    }
    return figures
  } finally {
    child.disconnect()
  }
}

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(30_000) })) as [Message]
  return message
}

function expectStatus(status: number, wanted: number): void {
  if (status !== wanted) throw new Error(`a call was answered ${status}, not ${wanted}`)
}

function signed(body: string | Buffer): Headers {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` }
}

/** About as large as a push of ten commits. */
function push(): string {
  const commit = () => ({
    id: 'c'.repeat(40),
    message: 'm'.repeat(200),
    author: { name: 'n', email: 'e' },
    added: [],
    removed: [],
    modified: ['a/b'],
  })
  return JSON.stringify({
    ref: 'refs/heads/main',
    before: 'a'.repeat(40),
    after: 'b'.repeat(40),
    commits: Array.from({ length: 10 }, commit),
  })
}
