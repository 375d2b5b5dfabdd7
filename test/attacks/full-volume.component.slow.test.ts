/**
 * One tenant with many large repositories cannot fill the mirror volume: the total stays within its limit at all times, and a namespace
 * within its share keeps its mirrors.
 */
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { matchObject } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const signal = AbortSignal.timeout(290_000)
const mebibyte = 1024 * 1024

/** Text that does not compress below three quarters of its size. */
function noise(bytes: number, seed: number): string {
  let state = seed * 2654435761 + 1
  const next = (): string => ((state = (state * 1103515245 + 12345) % 2147483648), state.toString(36))
  let text = ''
  while (text.length < bytes) text += next()
  return text
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + (statSync(path.join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

void t.test('repositories of one namespace evict each other, not those of another namespace', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'volume')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const needed = new Set<string>()
  const [state, maxBytes] = [path.join(folder, 'mirrors'), 6 * mebibyte]
  const mirrors = createMirrors({
    folder: state,
    clock: systemClock,
    log: silentLog,
    needed: () => needed,
    maxPackBytes: 2 * mebibyte,
    maxBytes,
  })
  t.teardown(async () => mirrors.close())
  const remote = (name: string) => anonymousRemote(host.url(`${name}/.git`), { allowLocal: false })
  const quiet = host.repository('quiet')
  const kept = parseCommitHash(quiet.commit({ a: noise(mebibyte, 1) }))
  await mirrors.of(remote('quiet'), 'quiet').resolve('main', { fresh: true }, signal)
  needed.add(kept)
  const names = ['one', 'two', 'three']
  const loud = names.map((name) => host.repository(name))
  for (let round = 0; round < 2; round += 1) {
    for (const [index, repository] of loud.entries()) {
      const commit = repository.commit({ a: noise(1.5 * mebibyte, 10 * index + round + 2) })
      const mirror = mirrors.of(remote(names[index] ?? ''), 'loud')
      t.equal((await mirror.resolve('main', { fresh: true }, signal)).commit, commit)
      const bytes = bytesIn(state)
      t.ok(bytes <= maxBytes, `${bytes} bytes after push ${round} of ${names[index]}`)
    }
  }
  await host.stop()
  await mirrors.of(remote('quiet'), 'quiet').ensure(kept, signal)
  t.pass('the other namespace needs no fetch')
})

void t.test('a repository that does not fit beside those within their share is refused as SourceVolumeFull', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'volume')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const mirrors = createMirrors({
    folder: path.join(folder, 'mirrors'),
    clock: systemClock,
    log: silentLog,
    maxPackBytes: 4 * mebibyte,
    maxBytes: 4.2 * mebibyte,
  })
  t.teardown(async () => mirrors.close())
  const resolve = async (name: string, megabytes: number): Promise<unknown> => {
    host.repository(name).commit({ a: noise(megabytes * mebibyte, name.length) })
    const mirror = mirrors.of(anonymousRemote(host.url(`${name}/.git`), { allowLocal: false }), name)
    return await mirror.resolve('main', { fresh: true }, signal).catch((error: unknown) => error)
  }
  matchObject(t, await resolve('first', 1.5), { fetchedAt: /^\d{4}-\d\d-\d\dT/ })
  matchObject(
    t,
    await resolve('second', 5.2),
    { reason: 'SourceVolumeFull' },
    'both would be beyond the volume, and the first is within its share',
  )
  matchObject(t, await resolve('small', 0.1), { fetchedAt: /^\d{4}-\d\d-\d\dT/ })
})

void t.test('a pack over the fetch limit is refused with a message that names the limit', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'volume')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, maxPackBytes: mebibyte })
  t.teardown(async () => mirrors.close())
  host.repository('large').commit({ a: noise(3 * mebibyte, 1) })
  const mirror = mirrors.of(anonymousRemote(host.url('large/.git'), { allowLocal: false }))
  const fault: unknown = await mirror.resolve('main', { fresh: true }, signal).catch((error: unknown) => error)
  matchObject(t, fault, { reason: 'RepositoryTooLarge', message: /larger than 1 MiB/ })
  t.ok(bytesIn(path.join(folder, 'mirrors')) < mebibyte / 2, 'nothing of it stays')
})
