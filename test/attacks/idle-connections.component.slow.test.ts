/**
 * Idle connections of one peer do not affect other peers, on a plain port and with TLS.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { nextCertificates } from '../../runtime/certificates/rotation.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type ConnectionBounds, type Served, serve } from '../../runtime/http/serve.ts'
import { until } from '../support/world.ts'

const call = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const beginning = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'
const [hostile, other] = ['127.0.0.2', '127.0.0.3']
const maxConnections = 100
const many = 500

type Opened = Served & { open(localAddress: string): Promise<Socket> }

async function start(
  t: Test,
  { secure, bounds = {}, app }: { secure: boolean; bounds?: Partial<ConnectionBounds>; app?: { fetch(): Promise<Response> } },
): Promise<Opened> {
  const stop = new AbortController()
  const { leaf } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const tls = secure ? { cert: leaf.certificate, key: leaf.key } : undefined
  const served = await serve(
    {
      app: app ?? { fetch: async () => new Response('here', { status: 404 }) },
      port: 0,
      host: '127.0.0.1',
      tls,
      bounds: { maxConnections, ...bounds },
      log: silentLog,
    },
    stop.signal,
  )
  const sockets = new Set<Socket>()
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    stop.abort()
    await served.closed
  })
  return {
    ...served,
    open: (localAddress) =>
      new Promise((resolve) => {
        const plain = connect({ port: served.port, host: '127.0.0.1', localAddress })
        const socket = secure ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain
        sockets.add(plain)
        for (const each of [plain, socket]) each.on('error', () => undefined)
        socket.once(secure ? 'secureConnect' : 'connect', () => resolve(socket))
        socket.once('close', () => resolve(socket))
      }),
  }
}

/** Whether a call is answered; false if the connection is closed instead. */
function ask(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
    if (socket.destroyed) resolve(false)
    else socket.write(call)
  })
}

for (const secure of [false, true]) {
  const name = secure ? 'behind TLS' : 'on a plain port'
  const ways: Record<string, (socket: Socket) => Promise<unknown>> = {
    'that say nothing': async () => undefined,
    'that have asked for something that is not there': ask,
    'that begin a body': async (socket) => socket.write(beginning),
  }
  for (const [what, use] of Object.entries(ways)) {
    void t.test(`500 connections of one peer ${what} are not noticed by others ${name}`, async (t) => {
      const served = await start(t, { secure })
      const early = await served.open(other)
      t.equal(await ask(early), true)
      for (let batch = 0; batch < many; batch += 50) {
        const opened = await Promise.all(Array.from({ length: 50 }, async () => await served.open(hostile)))
        await Promise.all(opened.map(use))
      }
      for (let index = 0; index < 5; index += 1) t.equal(await ask(await served.open(other)), true, 'a new connection of another peer')
      t.equal(await ask(early), true, 'and an old one')
    })
  }
}

void t.test('a connection with a pending answer is not closed to free a slot', async (t) => {
  const release = Promise.withResolvers<void>()
  let asked = 0
  const app = {
    async fetch() {
      asked += 1
      await release.promise
      return new Response('here')
    },
  }
  const served = await start(t, { secure: false, bounds: { maxConnections: 10 }, app })
  const answers = await Promise.all(Array.from({ length: 10 }, async () => ({ answer: ask(await served.open(other)) })))
  await until(() => (asked === 10 ? true : undefined), 'all are being answered')
  const more = Array.from({ length: 20 }, async () => await ask(await served.open(hostile)))
  t.strictSame(new Set(await Promise.all(more)), new Set([false]), 'there is no room for more')
  release.resolve()
  t.strictSame(new Set(await Promise.all(answers.map(async ({ answer }) => await answer))), new Set([true]))
})

void t.test('an idle connection is closed in time, with TLS also one without a handshake', async (t) => {
  for (const secure of [false, true]) {
    const served = await start(t, { secure, bounds: { headersTimeoutMs: 300, requestTimeoutMs: 600 } })
    const closed = (socket: Socket): Promise<void> =>
      new Promise((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())))
    await closed((await served.open(hostile)).resume())
    const silent = connect({ port: served.port, host: '127.0.0.1' })
    silent.on('error', () => undefined)
    await closed(silent.resume())
    const slow = (await served.open(hostile)).resume()
    slow.write(beginning)
    await closed(slow)
    t.pass(secure ? 'behind TLS' : 'plain')
  }
})
