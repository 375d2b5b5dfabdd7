/**
 * A name server that does not answer delays the repositories that depend on it, not those of other tenants: the git memory budget is shared
 * by all.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { createLookUp } from '../../runtime/git/remote/dns.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { startGitHost } from '../support/git-host.ts'
import { startNameServer } from '../support/name-server.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { createResolveHost } from '../../runtime/git/remote/network.ts'

void t.test('twenty repositories whose host names never resolve do not block git for others', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'hanging-names')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ a: '1' })
  const asked = new Set<string>()
  const network = {
    proxy: undefined,
    async resolve(name: string, signal: AbortSignal): Promise<readonly string[]> {
      asked.add(name)
      if (name === '127.0.0.1') return [name]
      return await new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  }
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, network })
  const stop = new AbortController()
  const resolve = async (url: string, signal: AbortSignal): Promise<string> =>
    (await mirrors.of(anonymousRemote(url, { allowLocal: false })).resolve('main', { fresh: true }, signal)).commit
  const hanging = Array.from({ length: 20 }, (_, index) => resolve(`https://hangs${index}.example/plant.git`, stop.signal))
  t.teardown(async () => {
    stop.abort(new Error('the test has ended'))
    await Promise.allSettled(hanging)
    await mirrors.close()
  })
  while (asked.size < hanging.length) await new Promise((done) => setImmediate(done))
  t.equal(await resolve(host.url('plant.git/.git'), AbortSignal.timeout(60_000)), commit)
})

void t.test('twenty names whose name servers never answer do not delay another name, or files', async (t) => {
  const hanging = Array.from({ length: 20 }, (_, index) => `hangs${index}.example`)
  const names = Object.fromEntries(hanging.map((name) => [name, 'never' as const]))
  const { resolver, asked, stop } = await startNameServer({ ...names, 'git.example': ['140.82.121.3'] }, { timeout: 60_000, tries: 1 })
  t.teardown(stop)
  const lookUp = createLookUp({ configurationFile: '/dev/null', resolver })
  const resolve = createResolveHost({ allowPrivate: true, allowed: [], refused: [] }, lookUp)
  const leave = new AbortController()
  const resolving = hanging.map(async (name) => await resolve(name, leave.signal))
  t.teardown(async () => {
    leave.abort(new Error('the test has ended'))
    await Promise.allSettled(resolving)
  })
  while (asked().length < hanging.length) await new Promise((done) => setImmediate(done))
  t.strictSame(await resolve('git.example', AbortSignal.timeout(5_000)), ['140.82.121.3'])
  t.equal((await readFile('/dev/null')).length, 0)
})
