/**
 * Tests the connection to the API server while its CA certificate changes.
 */
import { KubeConfig } from '@kubernetes/client-node'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { createTransport } from '../../../runtime/kube/transport.ts'
import { matchObject } from '../../support/assertions.ts'
import { makeAuthority } from '../../support/authority.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = new AbortController().signal

void t.test('new connections trust the certificate authority in the file once the file is reread', async (t) => {
  const folder = temporaryFolder(t, 'transport')
  const caFile = path.join(folder, 'ca.crt')
  const [first, second] = [await makeAuthority(folder, 'first', ['localhost']), await makeAuthority(folder, 'second', ['localhost'])]
  const server = createServer({ key: first.server.key, cert: first.server.certificate }, (_request, response) => {
    // Closing the connection makes each call open a new one.
    response.writeHead(200, { connection: 'close' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', () => resolve()))
  t.teardown(() => server.close())
  writeFileSync(caFile, first.certificate)
  const config = new KubeConfig()
  const { port } = server.address() as AddressInfo
  config.loadFromClusterAndUser({ name: 'c', server: `https://localhost:${port}`, caFile, skipTLSVerify: false }, { name: 'u' })
  let ms = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => ms }
  const transport = createTransport(config, { clock, userAgent: 'test' })
  t.teardown(() => transport.close())
  const ask = async (): Promise<number> => (await transport.send({ method: 'GET', path: '/' }, signal)).status

  t.equal(await ask(), 200)
  ms += 31_000
  t.equal(await ask(), 200, 'the same file, read again')
  writeFileSync(caFile, second.certificate)
  server.setSecureContext({ key: second.server.key, cert: second.server.certificate })
  // The file was read recently, so the old certificate is still cached.
  matchObject(t, await ask().catch((error: unknown) => error), { reason: 'ApiUnavailable' })
  ms += 31_000
  t.equal(await ask(), 200)
})
