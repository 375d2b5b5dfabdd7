/**
 * Answers with unread pages use little memory, leave capacity for other users, and end after a timeout.
 */
import * as http from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { UnreadLimits } from '../../runtime/http/unread-answers.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { serve } from '../../runtime/http/serve.ts'
import { statusPageApp } from '../../runtime/statuspage/app.ts'
import { fleetFacts, syncFacts } from '../support/fleet-facts.ts'
import { until } from '../support/world.ts'

const mebibyte = 1024 * 1024

/** A fleet whose `/status.json` is larger than the kernel's socket buffers. */
const facts = fleetFacts({ syncs: [syncFacts('line-1')], pods: [], reports: [], notes: ['x'.repeat(16 * mebibyte)] })

async function opened(t: Pick<Test, 'teardown'>, unread?: UnreadLimits) {
  const stop = new AbortController()
  const subscribe = () => () => undefined
  // The page is rendered once for the whole test.
  const clock = { ...systemClock, monotonicMs: () => 0 }
  const more = unread === undefined ? {} : { unread }
  const app = statusPageApp({
    facts: () => facts,
    subscribe,
    hosts: undefined,
    isOpen: false,
    clock,
    signal: stop.signal,
    ...more,
  })
  const served = await serve({ app, port: 0, host: '127.0.0.1', log: silentLog }, stop.signal)
  const open: Socket[] = []
  t.teardown(async () => {
    for (const socket of open) socket.destroy()
    stop.abort()
    await served.closed
  })
  /** Requests the whole fleet and reads only the beginning of the answer. */
  const askAndKeepSilent = async (): Promise<number> =>
    await new Promise((resolve, reject) => {
      const socket = connect({ port: served.port, host: '127.0.0.1' }, () => socket.write('GET /status.json HTTP/1.1\r\nhost: x\r\n\r\n'))
      open.push(socket)
      socket.once('data', (data: Buffer) => {
        socket.pause()
        resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1]))
      })
      socket.on('error', reject)
    })
  /** Reads the whole answer, from another local address than the silent clients. */
  const read = async (localAddress: string): Promise<{ status: number | undefined; bytes: number }> => {
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      http.get({ port: served.port, host: '127.0.0.1', localAddress, path: '/status.json', agent: false }, resolve).on('error', reject)
    })
    let bytes = 0
    for await (const chunk of answer) bytes += (chunk as Buffer).byteLength
    return { status: answer.statusCode, bytes }
  }
  return { askAndKeepSilent, read }
}

void t.test(
  'clients that read nothing keep to their share, others are served, and the share is freed in time',
  { timeout: 600_000 },
  async (t) => {
    const { askAndKeepSilent, read } = await opened(t, {
      totalBytes: 4 * mebibyte,
      perReaderBytes: mebibyte / 2,
      waitMs: 200,
      endAfterMs: 15_000,
    })
    const statuses: number[] = []
    for (let index = 0; index < 8; index += 1) statuses.push(await askAndKeepSilent())
    t.equal(statuses[0], 200)
    t.ok(statuses.includes(503), 'no more than the share')
    const other = await read('127.0.0.2')
    t.equal(other.status, 200)
    t.ok(other.bytes > 16 * mebibyte, 'all of it')
    await until(async () => ((await read('127.0.0.1')).status === 200 ? true : undefined), 'unread responses have ended')
  },
)

void t.test('uncompressed answers share one copy of the fleet in memory', { timeout: 600_000 }, async (t) => {
  const { askAndKeepSilent, read } = await opened(t)
  t.equal((await read('127.0.0.1')).status, 200)
  const before = process.memoryUsage().rss
  for (let index = 0; index < 48; index += 1) t.equal(await askAndKeepSilent(), 200)
  const grown = (process.memoryUsage().rss - before) / mebibyte
  t.ok(grown < 200, `48 answers of 16 MiB take ${Math.round(grown)} MiB more`)
})
