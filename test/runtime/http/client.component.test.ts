/**
 * The HTTP client: what it returns, what it limits, and how a call ends.
 */
import { once } from 'node:events'
import { Agent, createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { causeOf, readText, startCall } from '../../../runtime/http/client.ts'
import { rejectsWith } from '../../support/assertions.ts'

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

void t.test('a body is sent with its length, and the response is returned unchanged', async (t) => {
  const url = await serve(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(302, { location: '/elsewhere' })
      response.end(`${request.method} ${request.headers['content-length']} ${Buffer.concat(chunks).toString()}`)
    })
  })
  const response = await startCall(url, { method: 'POST' }, 'für').answered
  t.equal(response.statusCode, 302, 'no redirect is followed')
  t.equal(await readText(response, 100), 'POST 4 für')
})

void t.test('a response that is too large is discarded and its connection closed', async (t) => {
  const closed = Promise.withResolvers<void>()
  const url = await serve(t, (_request, response) => {
    response.on('close', () => closed.resolve())
    response.write('x'.repeat(100_000))
  })
  t.equal(await readText(await startCall(url, {}).answered, 1_000), undefined)
  await closed.promise
})

void t.test('a silent server times out, both before and during its response', async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.url === '/begins') response.write('{')
  })
  const told = { message: 'no data for 0.05 s', code: 'ETIMEDOUT' }
  await t.rejects(startCall(`${url}/hangs`, { idleMs: 50 }).answered, told)
  const response = await startCall(`${url}/begins`, { idleMs: 1_000 }).answered
  await rejectsWith(t, readText(response, 100), { message: 'no data for 1 s' })
})

void t.test('the signal aborts a call and its response', async (t) => {
  const stop = new AbortController()
  const url = await serve(t, (request, response) => {
    if (request.url === '/begins') response.write('{')
    else stop.abort()
  })
  const response = await startCall(`${url}/begins`, { signal: stop.signal }).answered
  const reading = readText(response, 100)
  const hanging = startCall(`${url}/hangs`, { signal: stop.signal }).answered
  await rejectsWith(t, hanging, { name: 'AbortError' })
  await t.rejects(reading)
})

void t.test('a truncated response is an error', async (t) => {
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('{}', () => response.destroy())
  })
  await rejectsWith(t, readText(await startCall(url, {}).answered, 100), { code: 'ECONNRESET' })
})

void t.test('a kept-alive connection is reused, and a refused one reports the system error', async (t) => {
  const url = await serve(t, (_request, response) => response.end('{}'))
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  await readText(await startCall(url, { agent }).answered, 100)
  // The connection becomes free once the end of the response has been processed.
  await new Promise((resolve) => setImmediate(resolve))
  const second = startCall(url, { agent })
  await readText(await second.answered, 100)
  t.ok(second.request.reusedSocket)
  const error: unknown = await startCall('http://127.0.0.1:1/', {}).answered.catch((thrown: unknown) => thrown)
  t.match(causeOf(error), /^ECONNREFUSED /)
})
