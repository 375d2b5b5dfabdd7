/**
 * Tests that a registry which answers slowly or endlessly is given up on.
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { Registry } from '../../../../runtime/git/oci/registry.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { anonymousAccess, requireRepository } from '../../../../runtime/git/remote/remote.ts'
import { rejectsWith } from '../../../support/assertions.ts'

const signal = new AbortController().signal
const digest = `sha256:${'a'.repeat(64)}` as const

async function registryOn(t: Test, server: Server | ReturnType<typeof createTcpServer>, timeoutMs: number): Promise<Registry> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = requireRepository(`oci+http://127.0.0.1:${port}/plant`, { allowLocal: true })
  return new Registry({ url, access: anonymousAccess }, openNetwork, timeoutMs)
}
const served = async (t: Test, timeoutMs: number, listener: RequestListener) => await registryOn(t, createServer(listener), timeoutMs)

void t.test('an answer whose head does not arrive in time is given up on, however steadily its bytes come', async (t) => {
  const dripping = createTcpServer((socket) => {
    const head = 'HTTP/1.1 200 OK\r\nx-header: '
    let sent = 0
    const timer = setInterval(() => {
      socket.write(head[sent] ?? 'a')
      sent += 1
    }, 20)
    socket.on('error', () => undefined).on('close', () => clearInterval(timer))
  })
  const registry = await registryOn(t, dripping, 300)
  await rejectsWith(t, registry.openBlob(digest, signal), { reason: 'GitTimeout' })
  await rejectsWith(t, registry.manifest(digest, signal), { reason: 'GitTimeout' })
})

void t.test('the content of a blob may take longer than its head', async (t) => {
  const registry = await served(t, 3_000, (_request, response) => {
    response.writeHead(200)
    let left = 10
    const timer = setInterval(() => {
      response.write('a')
      left -= 1
      if (left > 0) return
      clearInterval(timer)
      response.end()
    }, 400)
  })
  const content = await registry.openBlob(digest, signal)
  t.equal(Buffer.concat(await Array.fromAsync(content as AsyncIterable<Buffer>)).toString(), 'a'.repeat(10))
})

void t.test('a list of tags in endless pages is given up on', async (t) => {
  let pages = 0
  const registry = await served(t, 60_000, (_request, response) => {
    pages += 1
    response.writeHead(200, { link: '<next>; rel="next"', 'content-type': 'application/json' })
    response.end(JSON.stringify({ tags: [`v${pages}`] }))
  })
  await rejectsWith(t, Array.fromAsync(registry.tags(signal)), { reason: 'RepositoryTooLarge', message: /more than 200 pages/ })
  t.equal(pages, 200)
})

void t.test('tags come in parts, page by page, and other work runs in between', async (t) => {
  let pages = 0
  const registry = await served(t, 60_000, (_request, response) => {
    pages += 1
    response.writeHead(200, pages === 20 ? {} : { link: '<next>; rel="next"' })
    response.end(JSON.stringify({ tags: Array.from({ length: 1_000 }, (_, index) => `v${pages}.${index}`) }))
  })
  let [count, turns] = [0, 0]
  for await (const tags of registry.tags(signal)) {
    t.equal(turns, count === 0 ? 0 : 1)
    count += tags.length
    t.equal(pages, Math.ceil(count / 1_000))
    turns = 0
    setImmediate(() => (turns = 1))
  }
  t.equal(count, 20_000)
})

void t.test('more than 20,000 tags are refused', async (t) => {
  const registry = await served(t, 60_000, (_request, response) => {
    response.writeHead(200, { link: '<next>; rel="next"' })
    response.end(JSON.stringify({ tags: Array.from({ length: 10_000 }, () => 'v1') }))
  })
  const message = /has more than 20000 tags; delete old ones, or name a tag$/
  await rejectsWith(t, Array.fromAsync(registry.tags(signal)), { reason: 'RepositoryTooLarge', message })
})

void t.test('long pages of few tags are given up on', async (t) => {
  let pages = 0
  const registry = await served(t, 60_000, (_request, response) => {
    pages += 1
    response.writeHead(200, { link: '<next>; rel="next"' })
    response.end(JSON.stringify({ name: '"'.repeat(500_000), tags: [`v${pages}`] }))
  })
  await rejectsWith(t, Array.fromAsync(registry.tags(signal)), { reason: 'RepositoryTooLarge', message: /sends more than 4 MiB of tags$/ })
  t.equal(pages, 5)
})
