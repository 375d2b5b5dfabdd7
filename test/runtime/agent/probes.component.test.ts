import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { serveProbes } from '../../../runtime/agent/probes.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { createLog, silentLog } from '../../../runtime/platform/log/log.ts'
import { containsText } from '../../support/assertions.ts'

void t.test('probes report whether the gateway may start and whether the agent is live, with the reason', async (t) => {
  const stop = new AbortController()
  let health = { started: false, live: true, why: 'the first sync has not ended well yet' as string | undefined }
  const deps = { clock: systemClock, log: silentLog, health: () => health, metrics: () => 'm 1\n' }
  const { opened, closed } = serveProbes(deps, { port: 0, host: '127.0.0.1' }, stop.signal)
  const port = await opened
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } })
    return [response.status, await response.text()]
  }
  t.strictSame(await get('/startz'), [503, 'the first sync has not ended well yet\n'])
  t.strictSame(await get('/livez'), [200, 'ok\n'])
  health = { started: true, live: false, why: 'a sync has not ended in time' }
  t.strictSame(await get('/startz?x=1'), [200, 'ok\n'])
  t.strictSame(await get('/livez'), [503, 'a sync has not ended in time\n'])
  t.strictSame(await get('/metrics'), [200, 'm 1\n'])
  t.equal((await get('/other'))[0], 404)
  t.equal((await get('/livez', 'POST'))[0], 405)
  t.strictSame(await get('/livez', 'HEAD'), [503, ''], 'the status of GET without its body')
  t.strictSame(await get('/metrics', 'HEAD'), [200, ''])
  stop.abort()
  await closed
})

void t.test('a port in use is logged once and retried until it is free', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const stop = new AbortController()
  const lines: string[] = []
  const thirdTry = Promise.withResolvers<void>()
  let waits = 0
  const clock = {
    ...systemClock,
    async wait(_ms: number, signal?: AbortSignal) {
      if ((waits += 1) === 3) thirdTry.resolve()
      await systemClock.wait(5, signal)
    },
  }
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
  const deps = { clock, log, health: () => ({ started: true, live: true, why: undefined }), metrics: () => '' }
  const { opened, closed } = serveProbes(deps, { port, host: '127.0.0.1' }, stop.signal)
  await thirdTry.promise
  await new Promise((resolve) => other.close(resolve))
  t.equal(await opened, port)
  const response = await fetch(`http://127.0.0.1:${port}/startz`, { headers: { connection: 'close' } })
  t.strictSame([response.status, await response.text()], [200, 'ok\n'])
  t.equal(lines.length, 1, 'told once')
  containsText(t, lines[0], String(port))
  stop.abort()
  await closed
})

void t.test('an agent whose port never becomes free still shuts down', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void other.close())
  const stop = new AbortController()
  const deps = { clock: systemClock, log: silentLog, health: () => ({ started: true, live: true, why: undefined }), metrics: () => '' }
  const { opened, closed } = serveProbes(deps, { port: (other.address() as AddressInfo).port, host: '127.0.0.1' }, stop.signal)
  stop.abort()
  await closed
  t.equal(await opened, undefined)
})
