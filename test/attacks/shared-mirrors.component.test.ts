/**
 * A public repository has one mirror for all namespaces. One of them with many calls delays the others by one call, and pays for its own.
 */
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
const branches = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']

async function setUp(t: Test) {
  const folder = temporaryFolder(t, 'shared')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  repository.commit({ a: '1' })
  for (const branch of branches) repository.git('branch', branch)
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const remote = anonymousRemote(host.url('plant.git/.git'), { allowLocal: false })
  const resolve = async (namespace: string, ref: string) => await mirrors.of(remote, namespace).resolve(ref, { fresh: true }, signal)
  return { mirrors, resolve }
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
