/**
 * Pages that nobody reads take little memory, leave room for other people, and end by themselves.
 */
import * as http from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/clock.ts'
import type { UnreadLimits } from '../../runtime/http/unread.ts'
import { silentLog } from '../../runtime/log.ts'
import { serve } from '../../runtime/serve.ts'
import { statusPageApp } from '../../runtime/statuspage/app.ts'
import { fleetFacts, syncFacts } from '../support/fleet-facts.ts'
import { until } from '../support/world.ts'

const mebibyte = 1024 * 1024

/** A fleet whose `/status.json` is more than connections of the kernel take. */
const facts = fleetFacts({ syncs: [syncFacts('line-1')], pods: [], reports: [], notes: ['x'.repeat(16 * mebibyte)] })

async function opened(t: Pick<Test, 'teardown'>, unread?: UnreadLimits) {
  const stop = new AbortController()
  const subscribe = () => () => undefined
  // The page is made once, for as long as the test takes.
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
  /** Asks for all of the fleet and reads nothing of the answer but its beginning. */
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
  /** Reads all of it, from another address of this machine than the silent ones. */
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
  'readers who read nothing hold their share, others are answered, and the share is free again in time',
  { timeout: 120_000 },
  async (t) => {
    const { askAndKeepSilent, read } = await opened(t, {
      totalBytes: 4 * mebibyte,
      ofOneBytes: mebibyte / 2,
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
    await until(async () => ((await read('127.0.0.1')).status === 200 ? true : undefined), 'what nobody reads has ended', 90_000)
  },
)

void t.test('a fleet that is sent plain is not held as often as it is asked for', { timeout: 120_000 }, async (t) => {
  const { askAndKeepSilent, read } = await opened(t)
  t.equal((await read('127.0.0.1')).status, 200)
  const before = process.memoryUsage().rss
  for (let index = 0; index < 48; index += 1) t.equal(await askAndKeepSilent(), 200)
  const grown = (process.memoryUsage().rss - before) / mebibyte
  t.ok(grown < 200, `48 answers of 16 MiB take ${Math.round(grown)} MiB more`)
})
