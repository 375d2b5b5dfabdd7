/**
 * Calls to an API through a proxy that is itself reached over TLS.
 */
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import t from 'tap'
import { callForJson } from '../../../../runtime/git/credentials/api-call.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

void t.test('a proxy has to show a certificate for its own name, not for that of the API', async (t) => {
  const { server: pair } = await makeAuthority(temporaryFolder(t, 'api-call'), 'proxy', ['localhost'])
  const names: string[] = []
  const server = createServer({
    key: pair.key,
    cert: pair.certificate,
    SNICallback(name, done) {
      names.push(name)
      done(null)
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const proxy = `https://localhost:${(server.address() as AddressInfo).port}`
  const way = { caBundle: undefined, proxy, addresses: ['127.0.0.1'] }
  const asked = callForJson({ url: 'https://api.example/', headers: {} }, way, AbortSignal.timeout(30_000))
  // The authority is not known to this process.
  await rejectsWith(t, asked, { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  t.strictSame(names, ['localhost'])
})
