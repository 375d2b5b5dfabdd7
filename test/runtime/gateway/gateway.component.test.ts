import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { startSimulator } from '../../../examples/simulator/simulator.ts'
import { nextCertificates } from '../../../runtime/certificates/next.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { connectGateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/log.ts'
import { gatewayContract, reasonOf } from '../../contract/gateway.ts'
import { temporaryFolder } from '../../support/repository.ts'

const apiKey = 'gw:secret'

async function simulated(t: Test, options: object, tls?: { cert: string; key: string }) {
  const dataDir = temporaryFolder(t, 'gateway')
  const simulator = await startSimulator({
    dataDir: path.join(dataDir),
    name: 'gw',
    mode: 'dev',
    apiKey,
    ...(tls === undefined ? {} : { tls, host: 'localhost' }),
    ...options,
  })
  t.teardown(async () => simulator.stop())
  return simulator
}

void t.test('over http', async (t) => gatewayContract(t, async (t, options) => ({ simulator: await simulated(t, options), apiKey })))

void t.test('over TLS with an authority of its own', async (t) => {
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const tls = { cert: leaf.certificate, key: leaf.key }
  await gatewayContract(t, async (t, options) => ({ simulator: await simulated(t, options, tls), apiKey, ca: caBundle }))
  const simulator = await simulated(t, {}, tls)
  const strange = connectGateway({ url: simulator.url, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
  t.equal(await strange.status(AbortSignal.timeout(5000)), 'unreachable', 'an unknown authority is not trusted')
})

void t.test('whatever stands at the address, the answer is a reason and never more than a megabyte', async (t) => {
  const answers: [string, RequestListener][] = [
    ['nothing but noise', (_request, response) => response.end('<html>')],
    ['an endless body', (_request, response) => void setInterval(() => response.write('x'.repeat(200_000)), 1).unref()],
    ['a redirect', (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
    ['an error', (_request, response) => response.writeHead(500).end()],
  ]
  for (const [name, listener] of answers) {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const gateway = connectGateway({ url: `http://127.0.0.1:${port}`, apiKey: async () => apiKey, clock: systemClock, log: silentLog })
    t.equal(await gateway.status(AbortSignal.timeout(5000)), 'unreachable', name)
    t.match(
      await reasonOf(gateway.scan(['config'], AbortSignal.timeout(5000))),
      /^(?:ScanFailed|GatewayUnreachable|GatewayNotReady)$/,
      name,
    )
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
