/**
 * What a controller waits for before it answers, and what it does not wait for: a late API server, incomplete lists, a namespace that it
 * may not read. Also the ports that it opens then.
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { roleBindingType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { finalise } from '../support/controllers.ts'
import { install } from '../support/installation.ts'
import type { Ports } from '../support/ports.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { openTcpProxy } from '../support/tcp-proxy.ts'
import { namespaceType, until } from '../support/world.ts'

const spec = (repo: string) => ({
  git: { repo, ref: 'main' },
  polling: { enabled: false },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
})

async function answersAt(url: string): Promise<number | undefined> {
  return (await fetch(url).catch(() => undefined))?.status
}

/** The status of admission for an invalid review; undefined while it does not listen. */
function admissionAt(port: number): Promise<{ status: number; text: string } | undefined> {
  return new Promise((resolve) => {
    const call = request({ port, host: '127.0.0.1', path: '/mutate', method: 'POST', rejectUnauthorized: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    call.on('error', () => resolve(undefined))
    call.end('{}')
  })
}

/** Whether a local port is open. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNREFUSED' ? resolve(false) : reject(error)))
  })
}

async function openAmong(ports: Ports): Promise<object> {
  return Object.fromEntries(await Promise.all(Object.entries(ports).map(async ([name, port]) => [name, await isOpen(port)] as const)))
}

void t.test('a ready controller opens only the ports of enabled endpoints', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const off = { enabled: false }
  const { ports } = await install(t, ['plant'], { metrics: off, webhookReceiver: off, webhook: off })
  t.strictSame(await openAmong(ports), { probes: true, delivery: true, receiver: false, metrics: false, admission: false })
})

void t.test('the controller waits for a late API server', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const apiServer: number[] = []
  const tcpProxy = await openTcpProxy(t, () => apiServer)
  const folder = temporaryFolder(t, 'late')
  const cluster = await install(
    t,
    ['plant'],
    {},
    {
      through(kubeconfig) {
        const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
        apiServer[0] = Number(new URL(clusters[0]?.cluster.server ?? '').port)
        return tcpProxy.through(kubeconfig, folder)
      },
    },
  )
  t.equal(await cluster.stopController(), 0)
  await tcpProxy.close()
  cluster.logs.length = 0
  const starting = cluster.startController()
  const said = (text: string) => (cluster.logs.join('').includes(text) ? true : undefined)
  await until(() => said('the API server is not available yet'), 'it waits')
  const { probes, admission } = cluster.ports
  t.equal(await answersAt(`http://127.0.0.1:${probes}/healthz`), 200, 'alive, so that nobody starts it anew')
  t.equal(await answersAt(`http://127.0.0.1:${probes}/readyz`), 503)
  t.equal(await admissionAt(admission), undefined, 'nobody is asked to decide about pods')
  await tcpProxy.open()
  await starting
  matchObject(t, await admissionAt(admission), { status: 400 })
  t.strictSame(await openAmong(cluster.ports), { probes: true, delivery: true, receiver: true, metrics: true, admission: true })
})

void t.test(
  'admission answers once everything is listed, and waits half a minute for an unreadable namespace',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git', 'kubectl')) return
    const cluster = await install(t, ['plant', 'forbidden', 'gone'])
    const { world, host, ports } = cluster
    const { kube, plane, signal } = world
    const [plant, forbidden, gone] = [cluster.namespace('plant'), cluster.namespace('forbidden'), cluster.namespace('gone')]
    await cluster.stopController()
    for (const namespace of [forbidden, gone])
      for await (const { items } of kube.listPages(roleBindingType, { namespace }, signal))
        for (const { metadata } of items) await kube.delete(roleBindingType, { namespace, name: metadata.name }, signal)
    await kube.delete(namespaceType, { name: gone }, signal)
    await finalise(plane, gone)
    t.equal(await kube.get(namespaceType, { name: gone }, signal), undefined)
    const starting = cluster.startController()
    const early = await until(() => admissionAt(ports.admission), 'admission listens')
    matchObject(t, early, { status: 503, text: /have not been listed yet/ })
    await starting
    matchObject(t, await admissionAt(ports.admission), { status: 400 }, 'a review that cannot be understood')
    const warned = cluster.logs
      .join('')
      .split('\n')
      .filter((line) => line.includes('a watched namespace cannot be listed; the others are served'))
    t.strictSame(new Set(warned.map((line) => (JSON.parse(line) as { namespace: string }).namespace)), new Set([forbidden, gone]))
    const commit = host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
    await cluster.gatewaySync(plant, 'plant', spec(host.url('plant.git/.git')))
    const published = await until(async () => (await cluster.status(plant, 'plant')).published, 'the other namespace is served')
    t.equal(published.commit, commit)
  },
)

void t.test('a namespace whose git host does not answer is Throttled, and others are not', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const sockets = new Set<Socket>()
  silent.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  t.teardown(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = silent.address() as AddressInfo
  const cluster = await install(t, ['busy', 'plant'])
  const [busy, plant] = [cluster.namespace('busy'), cluster.namespace('plant')]
  const names = Array.from({ length: 6 }, (_, index) => `line-${index}`)
  for (const name of names) await cluster.gatewaySync(busy, name, spec(`https://localhost:${port}/${name}.git`))
  const throttled = async (namespace: string, name: string): Promise<string | undefined> =>
    (await cluster.status(namespace, name)).conditions?.find(({ type }) => type === 'Throttled')?.message
  const message = await until(async () => {
    const messages = await Promise.all(names.map(async (name) => await throttled(busy, name)))
    return messages.find((text) => text !== undefined)
  }, 'a GatewaySync is Throttled')
  const cause = 'uses its share of (?:source-resolution|git-memory); the longest .* git host localhost$'
  t.match(message, new RegExp(`because namespace "${busy}" ${cause}`))
  const commit = cluster.host.repository('plant.git').commit({ 'projects/a.txt': 'one' })
  await cluster.gatewaySync(plant, 'plant', spec(cluster.host.url('plant.git/.git')))
  const published = await until(async () => (await cluster.status(plant, 'plant')).published, 'the other namespace is served')
  t.equal(published.commit, commit)
  t.equal(await throttled(plant, 'plant'), undefined)
})
