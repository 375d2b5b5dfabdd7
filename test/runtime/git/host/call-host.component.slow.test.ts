/**
 * How long git waits for a host: real git with a host that accepts a call and then responds slowly.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { createGitMemory, type GitMemory } from '../../../../runtime/git/command/memory.ts'
import { openHost } from '../../../../runtime/git/host/call-host.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { childProcesses } from '../../../support/child-processes.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const signal = AbortSignal.timeout(280_000)
const busyMs = 3_000

void t.test("a host that is slower than git's timeout gets longer timeouts until it answers", { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { ask, port } = await plannedHost(t)
  const told = [await ask('silent')]
  while (told.at(-1) !== 'answered' && told.length < 5) told.push(await ask('slow'))
  t.equal(told.at(-1), 'answered')
  const given = `GitTimeout: 127.0.0.1:${port} sent too little data; the next attempt waits longer`
  t.ok(
    told.slice(0, -1).every((each) => each === given),
    told.join('\n'),
  )
})

void t.test('a host that never answers the first request is unreachable, and its timeout does not grow', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'mirror-host')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant')
  host.hang(true)
  const remote = anonymousRemote(host.url('plant/.git'), { allowLocal: false })
  const call = openHost({
    remote,
    network: openNetwork,
    limits,
    memory: createGitMemory(),
    patienceSeconds: 1,
  })
  const args = ['ls-remote', '-q', remote.url.text, 'main']
  const asked = call({ at: path.join(repository.folder, '.git'), namespace: 'plant', args, timeoutMs: 120_000 }, signal)
  await rejectsWith(t, asked, { reason: 'GitUnreachable', message: `127.0.0.1:${host.port} did not answer in time` })
})

/** A host that answers each call as `next` says, and the timeout in seconds that git had for each call. */
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
  const call = openHost({
    remote,
    network: openNetwork,
    limits,
    memory: createGitMemory(),
    patienceSeconds: 1,
  })
  const ask = async (how: typeof next, ref = 'main'): Promise<string> => {
    next = how
    const args = ['ls-remote', '-q', remote.url.text, ref]
    const asked = call({ at: path.join(repository.folder, '.git'), namespace: 'plant', args, timeoutMs: 120_000 }, signal)
    return await asked.then(
      () => 'answered',
      (error: unknown) => (error instanceof Fault ? `${error.reason}: ${error.message}` : String(error)),
    )
  }
  return { ask, waited, port: host.port }
}

void t.test('a host that was silent once and answers again keeps the usual timeout', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, waited } = await plannedHost(t)
  const told: string[] = []
  for (const how of ['silent', 'quick', 'quick'] as const) told.push(await ask(how))
  matchObject(t, told, [/^GitTimeout: /, 'answered', 'answered'])
  t.strictSame(waited, [1, 4, 1])
})

void t.test('an unanswered query gets a longer timeout, whatever other queries are answered meanwhile', async (t) => {
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

void t.test('a host known to be slow gets its timeout at each first attempt, even after quick answers', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, waited } = await plannedHost(t)
  const told = [await ask('slow')]
  while (told.at(-1) !== 'answered' && told.length < 5) told.push(await ask('slow'))
  t.ok(told.length > 1, 'it needs longer than usual')
  for (const how of ['quick', 'slow', 'quick', 'slow'] as const) t.equal(await ask(how), 'answered', how)
  const [each = 0, ...others] = new Set(waited.slice(-4))
  t.ok(each > 1 && others.length === 0, waited.join())
})

void t.test('a namespace whose calls need the large memory share takes it for itself only', async (t) => {
  const sizes: string[] = []
  const memory: GitMemory = {
    limiter: createGitMemory().limiter,
    async run(size, { namespace }) {
      sizes.push(`${namespace} ${size}`)
      throw new Fault(size !== 'large' && namespace === 'hostile' ? 'GitOutOfMemory' : 'GitUnreachable', 'no call is made')
    },
  }
  const remote = anonymousRemote('http://127.0.0.1/plant.git', { allowLocal: false })
  const call = openHost({ remote, network: openNetwork, limits, memory })
  const fetch = async (namespace: string): Promise<void> => {
    const at = path.join(temporaryFolder(t, 'mirror-host'), 'mirror')
    await rejectsWith(t, call({ at, namespace, args: ['fetch', remote.url.text], timeoutMs: 1_000 }, signal), { reason: 'GitUnreachable' })
  }
  // Two failures in a row: the next calls take the large share first.
  for (const namespace of ['hostile', 'hostile', 'hostile', 'plant']) await fetch(namespace)
  const twice = ['hostile small', 'hostile large']
  t.strictSame(sizes, [...twice, ...twice, 'hostile large', 'plant small'])
})
