/**
 * A commit that the git host has lost does not count as mirror damage: after any request for it, the mirror serves its other commits as
 * before.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { BlobSink, Change } from '../../../../runtime/content/protocol/protocol.ts'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { createLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { eachHost, type GitHostOptions, startGitHost } from '../../../support/git-host.ts'
import { gitEnvironment, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(560_000)
const gone = parseCommitHash('f'.repeat(40))
const profile = 'default'

async function setUp(t: Test, options: GitHostOptions = {}) {
  const folder = temporaryFolder(t, 'commit-gone')
  const host = await startGitHost(path.join(folder, 'git'), options)
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const logged: string[] = []
  const destination = new Writable({
    write(line, _encoding, done) {
      logged.push((JSON.parse(String(line)) as { msg: string }).msg)
      done()
    },
  })
  const state = path.join(folder, 'mirrors')
  const mirrors = createMirrors({ folder: state, clock: systemClock, log: createLog({ level: 'info', destination }) })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  const source = mirror.source(() => [parseRelativePath('')])
  const resolve = async (ref = 'main'): Promise<CommitHash> => {
    const { commit, committedAt } = await mirror.resolve(ref, { fresh: true }, signal)
    await committedAt
    return commit
  }
  /** File contents by path. */
  const read = async (commit: CommitHash): Promise<Record<string, string>> => {
    const changes: Change[] = []
    for await (const batch of source.changes({ commit, from: null, profile }, signal)) changes.push(...batch)
    const puts = changes.flatMap((change) => (change.op === 'put' ? [change] : []))
    const contents: string[] = []
    const sink: BlobSink = {
      begin: () => void contents.push(''),
      data: (chunk) => void (contents[contents.length - 1] += Buffer.from(chunk).toString('latin1')),
      end() {},
    }
    await source.blobs({ commit, profile, ids: puts.map(({ id }) => id) }, sink, signal)
    return Object.fromEntries(puts.map((put, index) => [put.path, contents[index] ?? '']))
  }
  const mirrorFolder = (): string => path.join(state, readdirSync(state)[0] ?? '')
  /** Removes one file's content of a commit from the mirror and keeps everything else. */
  const lose = (commit: CommitHash, file: string): void => {
    const objects = path.join(mirrorFolder(), 'objects')
    const git = (args: string[], input?: Buffer) =>
      execFileSync('git', ['-C', mirrorFolder(), ...args], { env: gitEnvironment, ...(input === undefined ? {} : { input }) })
    const id = git(['rev-parse', `${commit}:${file}`])
      .toString()
      .trim()
    const packs = readdirSync(path.join(objects, 'pack')).map((name) => path.join(objects, 'pack', name))
    const contents = packs.filter((name) => name.endsWith('.pack')).map((name) => readFileSync(name))
    for (const name of packs) rmSync(name)
    for (const content of contents) git(['unpack-objects', '-q'], content)
    rmSync(path.join(objects, id.slice(0, 2), id.slice(2)))
  }
  return { host, repository, mirror, source, resolve, read, lose, logged }
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'none',
    (error: unknown) => asFault(error).reason,
  )
}

eachHost(t, 'after requests for a commit that the host lacks, held ones are served without a fetch', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, mirror, source, resolve, read, logged } = await setUp(t, { mode })
  const isServed = mode !== 'v0, tips only'
  repository.commit({ a: '1' })
  const held = await resolve()
  t.strictSame(await read(held), { a: '1' })
  const sink: BlobSink = { begin() {}, data() {}, end() {} }
  const message = { author: { name: 'a', email: 'a@example.com' }, text: 'a', at: 1 }
  const asks: Record<string, () => Promise<unknown>> = {
    changes: async () => await Array.fromAsync(source.changes({ commit: gone, from: null, profile }, signal)),
    'changes since a held one': async () => await Array.fromAsync(source.changes({ commit: gone, from: held, profile }, signal)),
    'no changes': async () => await Array.fromAsync(source.changes({ commit: gone, from: gone, profile }, signal)),
    blobs: async () => await source.blobs({ commit: gone, profile, ids: [held] }, sink, signal),
    'blobs in frames': async () => await Array.fromAsync(source.frames({ commit: gone, profile, ids: [held] }, signal)),
    'all files in frames': async () => await Array.fromAsync(source.fileFrames({ commit: gone, profile }, signal)),
    'a commit on it': async () => await mirror.commit(gone, [], message, signal),
  }
  for (const [name, ask] of Object.entries(asks)) {
    t.equal(await reasonOf(ask()), isServed ? 'CommitGone' : 'CommitNotServed', name)
    const before = host.fetches()
    t.strictSame(await read(held), { a: '1' }, `after ${name}`)
    t.equal(host.fetches(), before, `after ${name}`)
  }
  t.equal(await reasonOf(mirror.resolve(gone, { fresh: true }, signal)), isServed ? 'RefNotFound' : 'CommitNotServed')
  await host.stop()
  t.strictSame(await read(held), { a: '1' }, 'with the host away')
  t.strictSame(logged, [])
})

eachHost(t, 'a commit that is damaged here and lost at the host costs no other one', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { host, repository, resolve, read, lose } = await setUp(t, { mode })
  repository.commit({ a: '1' })
  const held = await resolve()
  repository.commit({ a: '1', b: '2' })
  const damaged = await resolve()
  repository.git('update-ref', '-d', 'refs/heads/main')
  repository.git('reflog', 'expire', '--expire=now', '--all')
  repository.git('gc', '-q', '--prune=now')
  lose(damaged, 'b')
  t.equal(await reasonOf(read(damaged)), 'CommitGone')
  await host.stop()
  for (const time of ['once', 'and again']) t.strictSame(await read(held), { a: '1' }, time)
})

eachHost(t, 'a damaged mirror is replaced by one with the commit of an annotated tag', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, resolve, read, lose, logged } = await setUp(t, { mode })
  repository.commit({ a: '1', b: '2' })
  repository.git('tag', '-a', '-m', 'annotated', 'v1')
  const commit = await resolve('v1')
  // No ref of the host points directly at the commit.
  repository.commit({ b: '3' })
  lose(commit, 'b')
  t.strictSame(await read(commit), { a: '1', b: '2' })
  t.strictSame(logged, ['a mirror may be damaged', 'recreated a mirror'])
})
