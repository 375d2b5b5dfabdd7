/**
 * A git host that sends data slowly and without end does not take git slots from other namespaces, and its fetch ends.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createGitMemory } from '../../runtime/git/command/memory.ts'
import { openHost } from '../../runtime/git/host/call-host.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { digestOf, tarOf } from '../support/artifact-registry.ts'
import { rejectsWith } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const head = '001e# service=git-upload-pack\n0000'
const advertisement = 'application/x-git-upload-pack-advertisement'

/** Starts a local server that answers each request with `answer`. */
async function startServer(t: Pick<Test, 'teardown'>, address: string, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, address, () => resolve()))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://${address}:${(server.address() as AddressInfo).port}/plant.git`
}

/** A host that lists refs without end, faster than git's own minimum of 1,000 bytes a second. */
async function startDrippingHost(t: Pick<Test, 'teardown'>, address: string) {
  const open = new Set<ServerResponse>()
  const url = await startServer(t, address, (_request, response) => {
    open.add(response)
    response.writeHead(200, { 'content-type': advertisement }).write(head)
    let count = 0
    const timer = setInterval(() => {
      count += 1
      response.write(packetLine(`${'1'.repeat(40)} refs/heads/${String(count).padStart(300, 'x')}\n`))
    }, 200)
    response.once('close', () => {
      clearInterval(timer)
      open.delete(response)
    })
  })
  return { url, open }
}

/** A host that sends a pack at 2 KiB a second. */
async function startSlowHost(t: Test): Promise<string> {
  const { git, commit } = makeRepository(path.join(temporaryFolder(t, 'slow-pack'), 'plant'))
  const id = commit({ noise: randomBytes(256 * 1024).toString('base64') })
  const pack = git('pack-objects', '--all', '--stdout', '-q')
  return await startServer(t, '127.0.0.1', ({ method }, response) => {
    if (method === 'GET') {
      // No side band: its packets arrive whole or not at all.
      response.writeHead(200, { 'content-type': advertisement }).end(`${head}${packetLine(`${id} refs/heads/main\0agent=slow\n`)}0000`)
      return
    }
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).write(packetLine('NAK\n'))
    let sent = 0
    const timer = setInterval(() => response.write(pack.subarray(sent, (sent += 512))), 250)
    response.once('close', () => clearInterval(timer))
  })
}

/** A registry with one artifact, `v1`, that sends only the beginning of its layer until `finish` is called. */
async function startDrippingRegistry(t: Test) {
  const layer = tarOf(temporaryFolder(t, 'dripping-layer'), { a: '1' })
  const descriptor = { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: digestOf(layer), size: layer.length }
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, layers: [descriptor] }))
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const asked: string[] = []
  const url = await startServer(t, '127.0.0.1', ({ url: place = '' }, response) => {
    if (place.includes('/manifests/')) {
      response.writeHead(200, { 'docker-content-digest': digestOf(manifest) }).end(manifest)
      return
    }
    asked.push(place)
    response.writeHead(200).write(layer.subarray(0, 1024))
    void finished.then(() => response.end(layer.subarray(1024)))
  })
  return { url: url.replace('http:', 'oci+http:').replace('.git', ''), asked, finish }
}

function packetLine(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
}

void t.test('four hosts of one namespace that list refs endlessly leave git free for another namespace', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'dripping-hosts')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ a: '1' })
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  const stop = new AbortController()
  const resolve = async (namespace: string, url: string): Promise<string> =>
    (await mirrors.of(anonymousRemote(url, { allowLocal: false }), namespace).resolve('main', { fresh: true }, stop.signal)).commit
  const hosts = await Promise.all([2, 3, 4, 5].map(async (last) => await startDrippingHost(t, `127.0.0.${last}`)))
  const dripping = hosts.map(async ({ url }) => await resolve('hostile', url))
  const ended = Promise.allSettled(dripping)
  t.teardown(async () => {
    stop.abort(new Error('the test has ended'))
    await ended
    await mirrors.close()
  })
  const isDripping = (): boolean => hosts.some(({ open }) => open.size > 0)
  await until(() => isDripping() || undefined, 'a host lists its refs')
  t.equal(await resolve('plant', host.url('plant.git/.git')), commit)
  t.ok(isDripping(), 'a slow host is still waited for')
})

/** Fetches from the host with a timeout of three seconds, plus one second for each 4 KiB of a pack. */
async function fetchFrom(t: Test, url: string): Promise<void> {
  const at = path.join(temporaryFolder(t, 'mirror'), 'mirror.git')
  execFileSync('git', ['init', '-q', '--bare', at])
  const remote = anonymousRemote(url, { allowLocal: false })
  const call = openHost({ remote, network: openNetwork, limits, memory: createGitMemory(), patienceSeconds: 2, refsSeconds: 1 })
  const args = ['fetch', '-q', remote.url.text, '+main:refs/w/incoming']
  await call({ at, namespace: 'plant', args, timeoutMs: 120_000 }, AbortSignal.timeout(100_000))
}

void t.test('a fetch ends when the host lists refs endlessly', async (t) => {
  if (!requires(t, 'git')) return
  const { url } = await startDrippingHost(t, '127.0.0.1')
  await rejectsWith(t, fetchFrom(t, url), { reason: 'GitTimeout', message: `${new URL(url).host} sent no pack within 3 s` })
})

void t.test('a fetch ends when the host sends its pack too slowly', async (t) => {
  if (!requires(t, 'git')) return
  const url = await startSlowHost(t)
  await rejectsWith(t, fetchFrom(t, url), { reason: 'GitTimeout', message: `${new URL(url).host} sent less than 4 KiB/s` })
})

void t.test(
  'a registry that sends a layer slowly holds no memory of git meanwhile, and nothing stays on the disk after a kill',
  async (t) => {
    if (!requires(t, 'git', 'tar')) return
    const registry = await startDrippingRegistry(t)
    const folder = temporaryFolder(t, 'dripping-registry')
    const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog })
    t.teardown(async () => mirrors.close())
    const mirror = mirrors.of(anonymousRemote(registry.url, { allowLocal: false }), 'hostile')
    const resolved = mirror.resolve('v1', { fresh: true }, AbortSignal.timeout(60_000))
    await until(() => registry.asked[0], 'the layer is requested')
    t.equal(mirrors.memory.held, 0)
    const [name = ''] = readdirSync(folder)
    t.strictSame(readdirSync(path.join(folder, name)).toSorted(), ['HEAD', 'config', 'objects', 'refs'])
    registry.finish()
    t.match((await resolved).commit, /^[0-9a-f]{40}$/)
    t.equal(registry.asked.length, 1)
  },
)
