/**
 * Answers that a client does not read do not affect other gateways, and end after a timeout.
 */
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t from 'tap'
import type { FramedSource } from '../../runtime/content/protocol/protocol.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { overMirror, serveDelivery, type ServedDelivery } from '../support/delivery-server.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const signal = AbortSignal.timeout(240_000)
const mebibyte = 1024 * 1024

/** Requests blobs and reads only the head of the answer. */
async function askAndKeepSilent(
  { served, caBundle }: ServedDelivery,
  pod: string,
  body: object,
): Promise<{ socket: TLSSocket; status: number }> {
  return await new Promise((resolve, reject) => {
    const socket = connectTls({ port: served.port, host: '127.0.0.1', servername: 'localhost', ca: caBundle }, () => {
      const text = JSON.stringify(body)
      socket.write(
        `POST /v1/namespaces/default/gatewaysyncs/plant/blobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${pod}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      )
    })
    socket.once('data', (data: Buffer) => {
      socket.pause()
      resolve({ socket, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1]) })
    })
    socket.on('error', reject)
  })
}

void t.test('32 unread answers of one pod leave capacity for every other gateway', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const delivery = await serveDelivery(t, inner, { more: { slowAfterMs: 1_000 } })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a', 'projects/large.bin': 'x'.repeat(24 * mebibyte) })
  await delivery.publish(commit)
  const id = inner.repository.git('rev-parse', `${commit}:projects/large.bin`).toString('latin1').trim()
  const body = { commit, profile: 'default', ids: [id] }
  const unread = await Promise.all(Array.from({ length: 32 }, async () => await askAndKeepSilent(delivery, 'silent', body)))
  t.teardown(() => unread.forEach(({ socket }) => socket.destroy()))
  const statuses = unread.map(({ status }) => status)
  t.strictSame(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
    [4, 28],
    'a share for each pod',
  )
  const read = async (pod: string): Promise<number> => {
    let bytes = 0
    const sink = { begin: () => undefined, data: (chunk: Uint8Array) => void (bytes += chunk.byteLength), end: () => undefined }
    await delivery.client(pod).blobs({ commit: parseCommitHash(commit), profile: 'default', ids: [parseCommitHash(id)] }, sink, signal)
    return bytes
  }
  const answered = await Promise.all(Array.from({ length: 8 }, async (_, index) => await read(`gateway-${index}`)))
  t.strictSame(new Set(answered), new Set([24 * mebibyte]), 'the others are served')
  await until(
    () => (delivery.told.filter(({ status }) => status === 200).length >= 12 ? true : undefined),
    'unread responses have ended',
    60_000,
  )
  t.equal(await read('silent'), 24 * mebibyte, 'and its pod may ask again')
})

void t.test('one namespace cannot take the slots of the others', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const held: FramedSource = {
    ...inner.source,
    async *changes(request, own) {
      yield* inner.source.changes(request, own)
      await released
    },
  }
  let [noisy, other] = [0, 0]
  const delivery = await serveDelivery(t, inner, {
    source: held,
    more: {
      authorize: async ({ token }) => ({ kind: 'allowed', pod: token }),
      slots: { total: 6, perTenant: 4, perKey: 2 },
    },
  })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await delivery.publish(commit)
  const ask = async (namespace: string): Promise<number> => {
    const answer = await new Promise<number>((resolve, reject) => {
      const socket = connectTls({ port: delivery.served.port, host: '127.0.0.1', servername: 'localhost', ca: delivery.caBundle }, () => {
        const text = JSON.stringify({ commit, from: null, profile: 'default' })
        const path = `/v1/namespaces/${namespace}/gatewaysyncs/plant/changes`
        const pod = `${namespace}/${namespace === 'noisy' ? (noisy += 1) : (other += 1)}`
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${pod}\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
      })
      t.teardown(() => socket.destroy())
      socket.once('data', (data: Buffer) => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1])))
      socket.on('error', reject)
    })
    return answer
  }
  const first = []
  for (let index = 0; index < 6; index += 1) first.push(await ask('noisy'))
  t.strictSame(first, [200, 200, 200, 200, 429, 429])
  t.strictSame([await ask('other'), await ask('other'), await ask('other')], [200, 200, 429])
  release()
})

void t.test('a base that was not published reveals nothing of its content', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const delivery = await serveDelivery(t, inner)
  const secret = inner.repository.commit({ 'projects/codename-zebra.txt': 'secret' })
  await inner.publish(secret)
  const commit = inner.repository.commit({ 'projects/codename-zebra.txt': null, 'projects/a.txt': 'a' })
  await delivery.publish(commit)
  const changes = async (from: string): Promise<string[]> => {
    const paths: string[] = []
    const request = { commit: parseCommitHash(commit), from: parseCommitHash(from), profile: 'default' }
    for await (const batch of delivery.client('gateway').changes(request, signal)) paths.push(...batch.map(({ path }) => path))
    return paths
  }
  await t.rejects(changes(secret), /was not published for this GatewaySync/)
  await delivery.publish(secret)
  t.strictSame((await changes(secret)).toSorted(), ['projects/a.txt', 'projects/codename-zebra.txt'])
})
