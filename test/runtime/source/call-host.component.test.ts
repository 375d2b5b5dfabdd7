/**
 * How long a git host is waited for: real git against a host that takes a call and then needs its time.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import { openNetwork } from '../../../runtime/source/remote/network.ts'
import { createGitMemory } from '../../../runtime/source/git/memory.ts'
import { openHost } from '../../../runtime/source/host/call-host.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { childProcesses } from '../../support/child-processes.ts'
import { startGitHost } from '../../support/git-host.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const signal = AbortSignal.timeout(280_000)
const busyMs = 3_000

void t.test('a host that needs longer than git waits is waited for longer, until it answers', { timeout: 300_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { ask, port } = await plannedHost(t)
  const told = [await ask('silent')]
  while (told.at(-1) !== 'answered' && told.length < 5) told.push(await ask('slow'))
  t.equal(told.at(-1), 'answered')
  const given = `GitTimeout: 127.0.0.1:${port} took the call and then sent next to nothing; the next try waits longer`
  t.ok(
    told.slice(0, -1).every((each) => each === given),
    told.join('\n'),
  )
})

void t.test('a host that does not greet is not reached, and is not waited for longer', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'mirror-host')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant')
  host.hang(true)
  const remote = anonymousRemote(host.url('plant/.git'), { allowLocal: false })
  const call = openHost({ remote, network: openNetwork, limits, memory: createGitMemory(), patienceSeconds: 1 })
  const args = ['ls-remote', '-q', remote.url.text, 'main']
  const asked = call({ at: path.join(repository.folder, '.git'), args, timeoutMs: 120_000 }, signal)
  await t.rejects(asked, { reason: 'GitUnreachable', message: `127.0.0.1:${host.port} did not answer in time` })
})

/** A host that answers each call as `next` says, and how long git waits for it at that call, in seconds. */
async function plannedHost(t: Test) {
  const folder = temporaryFolder(t, 'mirror-host')
  const waited: number[] = []
  let next: 'quick' | 'slow' | 'silent' = 'quick'
  const host = await startGitHost(path.join(folder, 'git'), {
    before({ method }, response) {
      if (method !== 'POST') return false
      for (const { pid } of childProcesses()) {
        const [, seconds] = /http\.lowSpeedTime=([0-9]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'latin1')) ?? []
        if (seconds !== undefined) waited.push(Number(seconds))
      }
      if (next === 'quick') return false
      if (next === 'silent') return true
      const answer = (): unknown => response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).end('0000')
      const timer = setTimeout(answer, busyMs)
      response.once('close', () => clearTimeout(timer))
      return true
    },
  })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant')
  repository.commit({ a: '1' })
  const remote = anonymousRemote(host.url('plant/.git'), { allowLocal: false })
  const call = openHost({ remote, network: openNetwork, limits, memory: createGitMemory(), patienceSeconds: 1 })
  const ask = async (how: typeof next, ref = 'main'): Promise<string> => {
    next = how
    const args = ['ls-remote', '-q', remote.url.text, ref]
    const asked = call({ at: path.join(repository.folder, '.git'), args, timeoutMs: 120_000 }, signal)
    return await asked.then(
      () => 'answered',
      (error: unknown) => (error instanceof Fault ? `${error.reason}: ${error.message}` : String(error)),
    )
  }
  return { ask, waited, port: host.port }
}

void t.test('a host that was silent once and answers again is waited for no longer than before', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, waited } = await plannedHost(t)
  const told: string[] = []
  for (const how of ['silent', 'quick', 'quick'] as const) told.push(await ask(how))
  t.match(told, [/^GitTimeout: /, 'answered', 'answered'])
  t.strictSame(waited, [1, 4, 1])
})

void t.test('what a host has not answered yet is waited for longer, whatever else it answers meanwhile', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, waited } = await plannedHost(t)
  const asked = [
    ['silent', 'main'],
    ['quick', 'other'],
    ['silent', 'main'],
    ['quick', 'other'],
    ['quick', 'main'],
    ['quick', 'main'],
  ] as const
  for (const [how, ref] of asked) await ask(how, ref)
  t.strictSame(waited, [1, 4, 4, 16, 16, 1])
})

void t.test('a host that was found to need its time gets it at each first try, whatever came in between', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, waited } = await plannedHost(t)
  const told = [await ask('slow')]
  while (told.at(-1) !== 'answered' && told.length < 5) told.push(await ask('slow'))
  t.ok(told.length > 1, 'it needs longer than usual')
  for (const how of ['quick', 'slow', 'quick', 'slow'] as const) t.equal(await ask(how), 'answered', how)
  const [each = 0, ...others] = new Set(waited.slice(-4))
  t.ok(each > 1 && others.length === 0, waited.join())
})
