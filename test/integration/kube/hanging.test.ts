/**
 * An API server that hangs, ends every watch at once, or recovers: a proxy between the client and the real one simulates that.
 */
import { createServer, type Socket } from 'node:net'
import { connect } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { createKube, type Kube, loadKube } from '../../../runtime/kube/client.ts'
import { runWithLease } from '../../../runtime/kube/lease/run.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { leaseType, podType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { openWorld, tinyPod, until, type World } from '../../support/world.ts'

/**
 * Forwards bytes to the API server; can hang, freeze the newest or every connection, or cut all. `held` counts the requests sent while it
 * hangs.
 */
async function throughProxy(
  t: Test,
  { plane }: World,
): Promise<{
  kube: Kube
  hang(hangs: boolean): void
  freeze(): void
  freezeAll(): void
  cut(): void
  connections(): number
  held(): number
}> {
  const target = new URL(plane.url)
  const sockets = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let newest: Socket | undefined
  let hangs = false
  let count = 0
  let held = 0
  const server = createServer((client) => {
    count += 1
    newest = client
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk: Buffer) => {
      if (hangs || frozen.has(client)) held += 1
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => hangs || frozen.has(client) || client.write(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const file = path.join(temporaryFolder(t, 'proxy'), 'kubeconfig')
  writeFileSync(file, readFileSync(plane.adminKubeconfig, 'utf8').replace(plane.url, `https://127.0.0.1:${port}`))
  const kube = createKube(loadKube({ kubeconfig: file }), { clock: systemClock, userAgent: 'test' })
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(async () => {
    cut()
    await new Promise((resolve) => server.close(resolve))
    kube.close()
  })
  return {
    kube,
    cut,
    freeze() {
      if (newest !== undefined) frozen.add(newest)
    },
    freezeAll() {
      for (const socket of sockets) frozen.add(socket)
    },
    hang: (next) => {
      hangs = next
    },
    connections: () => count,
    held: () => held,
  }
}

void t.test('a leader that cannot renew stops leading before another may start', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('lease')
  const { kube, hang } = await throughProxy(t, world)
  const stop = new AbortController()
  let leads = false
  const running = runWithLease(
    { kube, clock: systemClock, log: silentLog },
    { namespace, name: 'leader', identity: 'a', durationMs: 60_000, renewWithinMs: 2_000, renewEveryMs: 300 },
    async (signal) => {
      leads = true
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      leads = false
    },
    stop.signal,
  )
  await until(() => (leads ? true : undefined), 'a leads')
  hang(true)
  const startedMs = systemClock.monotonicMs()
  await until(() => (leads ? undefined : true), 'a stops to lead')
  t.ok(systemClock.monotonicMs() - startedMs < 60_000, 'before its Lease runs out')
  hang(false)
  stop.abort(new Error('stop'))
  await running
})

void t.test('a leader with a silently dropped connection renews over a new one and keeps leading', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('lease')
  const { kube, freezeAll } = await throughProxy(t, world)
  const stop = new AbortController()
  let leads = false
  let terms = 0
  const running = runWithLease(
    { kube, clock: systemClock, log: silentLog },
    { namespace, name: 'leader', identity: 'a', renewEveryMs: 300 },
    async (signal) => {
      leads = true
      terms += 1
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      leads = false
    },
    stop.signal,
  )
  await until(() => (leads ? true : undefined), 'a leads')
  const renewed = async (): Promise<unknown> => {
    const lease = await world.kube.get(leaseType, { namespace, name: 'leader' }, world.signal)
    return (lease?.spec as { renewTime?: unknown } | undefined)?.renewTime
  }
  freezeAll()
  const before = await renewed()
  await until(async () => ((await renewed()) === before ? undefined : true), 'the Lease is renewed')
  t.ok(leads)
  t.equal(terms, 1, 'it was never lost')
  stop.abort(new Error('stop'))
  await running
})

void t.test('a replica whose read of the Lease gets no answer reads it again and takes it', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('lease')
  const { kube, hang, held } = await throughProxy(t, world)
  const stop = new AbortController()
  hang(true)
  let led = false
  const running = runWithLease(
    { kube, clock: systemClock, log: silentLog },
    { namespace, name: 'leader', identity: 'a' },
    async () => {
      led = true
      stop.abort(new Error('enough was seen'))
    },
    stop.signal,
  )
  await until(() => (held() > 0 ? true : undefined), 'the API server has been called')
  // The data sent meanwhile is lost, so this connection stays without an answer.
  hang(false)
  await running
  t.ok(led)
})

void t.test(
  'an interrupted watch resumes, delivers missed changes, and does not retry in a tight loop',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const world = await openWorld(t)
    const { signal } = world
    const namespace = await world.namespace('watch')
    const { kube, cut, connections } = await throughProxy(t, world)
    await world.kube.create(podType, tinyPod(namespace, 'before'), signal)
    const names = new Set<string>()
    let lists = 0
    const stop = new AbortController()
    const running = runListWatch(
      { kube, clock: systemClock, log: silentLog },
      { type: podType, namespace, project: ({ metadata }) => metadata.name },
      { upsert: ({ name }) => names.add(name), remove: ({ name }) => names.delete(name), synced: () => (lists += 1) },
      stop.signal,
    )
    await until(() => (names.has('before') ? true : undefined), 'the list is reported')
    cut()
    await world.kube.delete(podType, { namespace, name: 'before' }, signal)
    await world.kube.create(podType, tinyPod(namespace, 'meanwhile'), signal)
    await until(() => (names.has('meanwhile') ? true : undefined), 'what came meanwhile is reported')
    await until(() => (names.has('before') ? undefined : true), 'what went meanwhile is reported')
    t.equal(lists, 1, 'it goes on from where it was')
    const before = connections()
    const startedMs = systemClock.monotonicMs()
    for (let round = 0; round < 20; round += 1) {
      cut()
      await systemClock.wait(50)
    }
    const seconds = (systemClock.monotonicMs() - startedMs) / 1000
    t.ok(connections() - before < 12 + 3 * seconds, `${connections() - before} connections in ${seconds} seconds of cuts`)
    stop.abort(new Error('stop'))
    await running
  },
)

void t.test('a watch with a silently dropped connection is restarted', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('watch')
  const { kube, freeze } = await throughProxy(t, world)
  const names = new Set<string>()
  let lists = 0
  const stop = new AbortController()
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog, silenceMs: 3_000 },
    { type: podType, namespace, project: ({ metadata }) => metadata.name },
    { upsert: ({ name }) => names.add(name), remove: ({ name }) => names.delete(name), synced: () => (lists += 1) },
    stop.signal,
  )
  await world.kube.create(podType, tinyPod(namespace, 'before'), world.signal)
  await until(() => (names.has('before') ? true : undefined), 'the watch tells')
  // The list uses a connection that is kept for more requests, the watch the newest one.
  freeze()
  await world.kube.create(podType, tinyPod(namespace, 'meanwhile'), world.signal)
  await until(() => (names.has('meanwhile') ? true : undefined), 'what came meanwhile is reported')
  t.equal(lists, 1, 'it goes on from where it was')
  stop.abort(new Error('stop'))
  await running
})

void t.test('a watch that waits for its first answer ends with the signal', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('watch')
  const { kube, hang, held } = await throughProxy(t, world)
  const stop = new AbortController()
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    { type: podType, namespace, project: ({ metadata }) => metadata.name },
    { upsert() {}, remove() {}, synced: () => hang(true) },
    stop.signal,
  )
  await until(() => (held() > 0 ? true : undefined), 'the watch has been asked for')
  stop.abort(new Error('stop'))
  const startedMs = systemClock.monotonicMs()
  await running
  t.ok(systemClock.monotonicMs() - startedMs < 60_000, 'long before the watch itself would end')
})
