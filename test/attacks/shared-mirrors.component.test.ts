/**
 * A public repository has one mirror for all namespaces. One of them with many calls delays the others by one call, and pays for its own.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { startGitHost } from '../support/git-host.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const signal = AbortSignal.timeout(100_000)
/** How long a mirror has to be quiet before it is cleaned up; here until the test says so. */
const quietMs = 2_000
/** More packs than a mirror keeps. */
const manyFetches = 32
const branches = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']

async function setUp(t: Test) {
  const folder = temporaryFolder(t, 'shared')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  repository.commit({ a: '1' })
  for (const branch of branches) repository.git('branch', branch)
  const quiet = Promise.withResolvers<void>()
  const wait = async (ms: number, own: AbortSignal): Promise<void> => await (ms === quietMs ? quiet.promise : systemClock.wait(ms, own))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: { ...systemClock, wait }, log: silentLog })
  t.teardown(async () => mirrors.close())
  const remote = anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })
  const resolve = async (namespace: string, ref: string, own = signal) =>
    await mirrors.of(remote, namespace).resolve(ref, { fresh: true }, own)
  return { host, mirrors, resolve, repository, quiet }
}

void t.test('namespaces take turns at the mirror that they share', async (t) => {
  if (!requires(t, 'git')) return
  const { resolve } = await setUp(t)
  const ended: string[] = []
  const ask = async (namespace: string, ref: string): Promise<void> => {
    await resolve(namespace, ref)
    ended.push(namespace)
  }
  await Promise.all([...branches.map((branch) => ask('loud', branch)), ask('quiet', 'main')])
  t.equal(ended[0], 'quiet')
})

void t.test('each namespace pays for its own calls of a mirror that they share', async (t) => {
  if (!requires(t, 'git')) return
  const { mirrors, resolve } = await setUp(t)
  const payers = () => mirrors.memory.uses().map(({ tenant }) => tenant)
  await resolve('quiet', 'main')
  t.strictSame(payers(), ['quiet'])
  const used = () => mirrors.memory.uses().find(({ tenant }) => tenant === 'quiet')?.usedSeconds
  const before = used()
  await Promise.all(branches.map((branch) => resolve('loud', branch)))
  t.equal(used(), before)
  t.strictSame(payers().toSorted(), ['loud', 'quiet'])
})

type Shared = Awaited<ReturnType<typeof setUp>>

/** Uses the memory of the namespace `loud` with hosts that never answer. */
async function exhaust(t: Test, { mirrors }: Shared) {
  const silent = createServer(() => undefined)
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const stop = new AbortController()
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const hanging = Array.from({ length: 6 }, async (_, index) => {
    const remote = anonymousRemote(`${url}/${index}.git`, { allowLocal: false })
    await mirrors.of(remote, 'loud').resolve('main', { fresh: true }, stop.signal)
  })
  t.teardown(async () => {
    stop.abort(new Error('the test has ended'))
    await Promise.allSettled(hanging)
    silent.closeAllConnections()
    silent.close()
  })
  const waiting = () => mirrors.memory.uses().find(({ tenant }) => tenant === 'loud')?.waiting ?? 0
  const untilMore = async (than: number): Promise<number> => {
    while (waiting() <= than) await systemClock.wait(10, signal)
    return waiting()
  }
  return { stop, untilMore, waiting: await untilMore(0) }
}

/** The time that a call of the namespace `quiet` takes, in ms. */
async function timed({ resolve }: Shared): Promise<number> {
  const startedMs = systemClock.monotonicMs()
  await resolve('quiet', 'main')
  return systemClock.monotonicMs() - startedMs
}

void t.test('a namespace that waits for memory that it uses itself does not hold the mirror that it shares', async (t) => {
  if (!requires(t, 'git')) return
  const shared = await setUp(t)
  const { stop, untilMore, waiting } = await exhaust(t, shared)
  const loud = shared.resolve('loud', 'main', stop.signal).catch(() => undefined)
  await untilMore(waiting)
  const tookMs = await timed(shared)
  t.ok(tookMs < 10_000, `${tookMs} ms`)
  t.ok(shared.host.fetches() > 0)
  stop.abort(new Error('the test has ended'))
  await loud
})

void t.test('nor does the clean-up that it pays for', async (t) => {
  if (!requires(t, 'git')) return
  const shared = await setUp(t)
  for (let index = 0; index < manyFetches; index += 1) {
    shared.repository.commit({ a: `${index}` })
    await shared.resolve('loud', 'main')
  }
  const { untilMore, waiting } = await exhaust(t, shared)
  shared.quiet.resolve()
  await untilMore(waiting)
  const tookMs = await timed(shared)
  t.ok(tookMs < 10_000, `${tookMs} ms`)
})
