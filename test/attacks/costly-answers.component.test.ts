/**
 * A git host that answers a call of its API with JSON that takes many times its size in memory when it is parsed.
 */
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { callForJson } from '../../runtime/git/credentials/api-call.ts'

const maxBodyBytes = 4 * 1024 * 1024

/** The parsed body of the answer with this text. */
async function bodyOf(t: Test, text: string): Promise<unknown> {
  const host = http.createServer((_call, answer) => answer.end(text)).listen(0, '127.0.0.1')
  t.teardown(() => host.close())
  await new Promise((resolve) => host.once('listening', resolve))
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`
  const way = { caBundle: undefined, proxy: undefined, addresses: undefined }
  return (await callForJson({ url, method: 'GET', headers: {}, maxBodyBytes }, way, AbortSignal.timeout(30_000))).body
}

function list(item: string, count: number): string {
  return `[${Array.from({ length: count }, () => item).join(',')}]`
}

for (const item of ['{}', '[]', '1', '{"a":1}'])
  void t.test(`four megabytes of ${item} are not parsed`, async (t) => {
    const text = list(item, Math.floor((maxBodyBytes - 2) / (item.length + 1)))
    t.equal(typeof (await bodyOf(t, text)), 'undefined')
  })

void t.test('a hundred pull requests with the fields of GitHub are parsed', async (t) => {
  const user = Object.fromEntries(Array.from({ length: 19 }, (_, index) => [`field${index}`, 'x'.repeat(35)]))
  const pull = Object.fromEntries(Array.from({ length: 19 }, (_, index) => [`object${index}`, user]))
  const body = await bodyOf(t, list(JSON.stringify(pull), 100))
  t.equal(Array.isArray(body) && body.length, 100)
})
