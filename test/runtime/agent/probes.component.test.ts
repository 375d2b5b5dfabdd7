import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { serveProbes } from '../../../runtime/agent/probes.ts'
import { Fault } from '../../../runtime/fault.ts'

void t.test('the kubelet is told whether the gateway may start and whether the agent is alive, with the reason', async (t) => {
  const stop = new AbortController()
  let health = { started: false, live: true, why: 'the first sync has not ended well yet' as string | undefined }
  const { port, closed } = await serveProbes({ health: () => health, metrics: () => 'm 1\n' }, { port: 0, host: '127.0.0.1' }, stop.signal)
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } })
    return [response.status, await response.text()]
  }
  t.same(await get('/startz'), [503, 'the first sync has not ended well yet\n'])
  t.same(await get('/livez'), [200, 'ok\n'])
  health = { started: true, live: false, why: 'the last look has not ended' }
  t.same(await get('/startz?x=1'), [200, 'ok\n'])
  t.same(await get('/livez'), [503, 'the last look has not ended\n'])
  t.same(await get('/metrics'), [200, 'm 1\n'])
  t.equal((await get('/other'))[0], 404)
  t.equal((await get('/livez', 'POST'))[0], 405)
  stop.abort()
  await closed
})

void t.test('a taken port is named', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const deps = { health: () => ({ started: true, live: true, why: undefined }), metrics: () => '' }
  const error: unknown = await serveProbes(deps, { port, host: '127.0.0.1' }, AbortSignal.timeout(30_000)).catch(
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof Fault && error.reason === 'InvalidConfiguration' && error.message.includes(String(port)))
  await new Promise((resolve) => other.close(resolve))
})
