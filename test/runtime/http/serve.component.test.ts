/**
 * A server that limits many and slow callers, and shuts down once it has answered.
 */
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { serve } from '../../../runtime/http/serve.ts'

void t.test('a shutdown waits for requests in progress and for nothing else', async (t) => {
  const stop = new AbortController()
  const [asked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const app = {
    fetch: async () => {
      asked.resolve()
      await release.promise
      return new Response('done')
    },
  }
  const served = await serve({ app, port: 0, host: '127.0.0.1', log: silentLog }, stop.signal)
  const answer = fetch(served.url)
  await asked.promise
  stop.abort()
  const startedMs = systemClock.monotonicMs()
  release.resolve()
  t.equal(await (await answer).text(), 'done')
  await served.closed
  t.ok(systemClock.monotonicMs() - startedMs < 9_000, 'before anything would be cut off')
})

void t.test('at the connection limit the longest idle connection is closed', async (t) => {
  const stop = new AbortController()
  const app = { fetch: () => new Response('here') }
  const served = await serve({ app, port: 0, host: '127.0.0.1', bounds: { maxConnections: 2 }, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const [first, second] = [await open(served.port), await open(served.port)]
  t.strictSame([await ask(second), await ask(first)], [true, true])
  const gone = new Promise((resolve) => second.once('close', resolve))
  const third = await open(served.port)
  t.equal(await ask(third), true)
  await gone
  t.equal(await ask(first), true)
  first.destroy()
  third.destroy()
})

function open(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => undefined)
  })
}

/** Returns whether a call is answered; false if the connection is closed instead. */
function ask(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
    if (socket.destroyed) resolve(false)
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  })
}
