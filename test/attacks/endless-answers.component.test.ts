/**
 * Servers that end no answer, or answer with 101, keep neither a connection nor the processor after the call. Such servers belong to
 * tenants: registries, APIs of git hosts, Prometheus, receivers of notifications, the API servers of other clusters.
 */
import { KubeConfig } from '@kubernetes/client-node'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { call } from '../../runtime/gateway/http.ts'
import { callForJson } from '../../runtime/git/credentials/api-call.ts'
import { Registry } from '../../runtime/git/oci/registry.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { createTransport } from '../../runtime/kube/transport.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { rejectsWith } from '../support/assertions.ts'
import { until } from '../support/world.ts'

/** Nothing ends a call but its own limits. */
const { signal } = new AbortController()
const digest = `sha256:${'a'.repeat(64)}` as const
const piece = Buffer.alloc(64 * 1024, 'a')

/** A server whose answers have these statuses by path, else `status`, and bodies without end. */
async function startServer(t: Test, status: number, byPath: Readonly<Record<string, number>> = {}) {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    const challenge = `Bearer realm="http://${request.headers.host}/token"`
    response.writeHead(byPath[request.url ?? ''] ?? status, { location: request.url, 'www-authenticate': challenge })
    if (request.method === 'HEAD') return void response.end()
    const write = (): void => {
      while (response.write(piece));
    }
    response.on('drain', write)
    return write()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, open }
}

const calls: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  'the digest of a tag': async (url) => registryAt(url).digestOf('v1', signal),
  'a manifest': async (url) => registryAt(url).manifest(digest, signal),
  tags: async (url) => Array.fromAsync(registryAt(url).tags(signal)),
  'a blob': async (url) => (await registryAt(url).openBlob(digest, signal)).destroy(),
  'a small blob': async (url) => registryAt(url).smallBlob({ mediaType: '', digest, size: 1, annotations: {} }, 1, signal),
  'the API of a git host': async (url) =>
    callForJson({ url, headers: {} }, { caBundle: undefined, proxy: undefined, addresses: undefined }, signal),
  'a gateway': async (url) => call({ url, apiKey: async () => undefined, ca: () => undefined }, { method: 'GET', path: '/' }, signal),
  'the head of a gateway': async (url) =>
    call({ url, apiKey: async () => undefined, ca: () => undefined }, { method: 'GET', path: '/', headOnly: true }, signal),
  'another API server': async (url) => {
    const config = new KubeConfig()
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u' })
    const transport = createTransport(config, { clock: systemClock, userAgent: 'test' })
    // The connections are not closed with the transport, because it lives as long as the process.
    return await transport.send({ method: 'GET', path: '/' }, signal)
  },
}

function registryAt(url: string): Registry {
  return new Registry(anonymousRemote(`${url.replace('http:', 'oci+http:')}/plant`, { allowLocal: true }), openNetwork)
}

void t.test('an answer that is not read to its end is ended', async (t) => {
  for (const status of [200, 301, 401, 403, 404, 429, 500])
    for (const [what, run] of Object.entries(calls)) {
      const { url, open } = await startServer(t, status)
      await run(url).catch(() => undefined)
      await until(() => open.size === 0 || undefined, `${what}: the answer with ${status} is ended`, 10_000)
    }
  const { url, open } = await startServer(t, 401, { '/token?scope=repository%3Aplant%3Apull': 500 })
  await rejectsWith(t, registryAt(url).openBlob(digest, signal), { reason: 'GitUnreachable', message: /answered 500/ })
  await until(() => open.size === 0 || undefined, 'the answer of a token service is ended', 10_000)
})

void t.test('a server that switches protocols does not hold the call', async (t) => {
  const server = createServer((_request, response) => {
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  for (const [what, run] of Object.entries(calls))
    await t.rejects(run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), /closed without an answer|cannot be reached/, what)
})
