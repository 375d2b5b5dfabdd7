/**
 * A mirror whose files were damaged by a crash, a full disk or an administrator costs one more fetch within the same call. The calls that
 * detect the damage: the next commit, all contents of the same commit, an earlier commit.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors, type Mirror } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { matchObject } from '../../../support/assertions.ts'
import { hostModes, startGitHost } from '../../../support/git-host.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(600_000)

type Damage = (mirror: string) => void

const inPacks =
  (waitForEnd: string, change: (file: string) => void): Damage =>
  (mirror) => {
    const packs = path.join(mirror, 'objects', 'pack')
    for (const name of fs.readdirSync(packs).filter((name) => name.endsWith(waitForEnd))) {
      fs.chmodSync(path.join(packs, name), 0o600)
      change(path.join(packs, name))
    }
  }

/** Overwrites bytes at a relative position from 0 to 1 of the file. */
const scramble =
  (place: number) =>
  (file: string): void => {
    const content = fs.readFileSync(file)
    for (let index = 0; index < 40; index += 1) {
      const at = Math.min(content.length - 1, Math.floor(content.length * place) + index)
      content[at] = (content[at] ?? 0) ^ (index * 37 + 85)
    }
    fs.writeFileSync(file, content)
  }

const refs = (mirror: string): string[] => fs.readdirSync(path.join(mirror, 'refs/w')).map((name) => path.join(mirror, 'refs/w', name))
const rewrite =
  (name: string, content: string): Damage =>
  (mirror) =>
    fs.writeFileSync(path.join(mirror, name), content)
const empty = (file: string): void => fs.writeFileSync(file, '')

const damages: Record<string, Damage> = {
  'random bytes at the head of a pack': inPacks('.pack', scramble(0)),
  'random bytes in the first objects of a pack': inPacks('.pack', scramble(0.02)),
  'random bytes in the first half of a pack': inPacks('.pack', scramble(0.3)),
  'random bytes in the middle of a pack': inPacks('.pack', scramble(0.5)),
  'random bytes in the second half of a pack': inPacks('.pack', scramble(0.8)),
  'random bytes at the end of a pack': inPacks('.pack', scramble(0.99)),
  'half a pack': inPacks('.pack', (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2))),
  'empty packs and indexes': (mirror) => {
    inPacks('.pack', empty)(mirror)
    inPacks('.idx', empty)(mirror)
  },
  'no packs': inPacks('.pack', (file) => fs.rmSync(file)),
  'no indexes': inPacks('.idx', (file) => fs.rmSync(file)),
  'random bytes in an index': inPacks('.idx', scramble(0.6)),
  'no objects': (mirror) => fs.rmSync(path.join(mirror, 'objects'), { recursive: true }),
  'empty refs': (mirror) => refs(mirror).forEach(empty),
  'an empty ref of the last fetch': rewrite('refs/w/incoming', ''),
  'refs of garbage': (mirror) => refs(mirror).forEach((file) => fs.writeFileSync(file, 'garbage\n')),
  'refs that name what is not there': (mirror) => refs(mirror).forEach((file) => fs.writeFileSync(file, `${'1'.repeat(40)}\n`)),
  'no refs': (mirror) => fs.rmSync(path.join(mirror, 'refs'), { recursive: true }),
  'a file where the refs were': (mirror) => {
    fs.rmSync(path.join(mirror, 'refs'), { recursive: true })
    fs.writeFileSync(path.join(mirror, 'refs'), '')
  },
  'garbage in shallow': rewrite('shallow', 'garbage\n'),
  'an empty shallow': rewrite('shallow', ''),
  'no shallow': (mirror) => fs.rmSync(path.join(mirror, 'shallow')),
  'garbage in packed-refs': rewrite('packed-refs', 'garbage\n'),
  'an empty HEAD': rewrite('HEAD', ''),
  'a HEAD of something else': rewrite('HEAD', 'garbage\n'),
  'no HEAD': (mirror) => fs.rmSync(path.join(mirror, 'HEAD')),
  'a damaged config': rewrite('config', '[core\n\0'),
  'locks and halves that a kill left': (mirror) => {
    for (const name of ['shallow.lock', 'packed-refs.lock', 'HEAD.lock', 'config.lock', 'refs/w/incoming.lock', 'objects/pack/tmp_pack_x'])
      fs.writeFileSync(path.join(mirror, name), '')
  },
  'no folder': (mirror) => fs.rmSync(mirror, { recursive: true }),
  'a file in place of the folder': (mirror) => {
    fs.rmSync(mirror, { recursive: true })
    fs.writeFileSync(mirror, '')
  },
}

/** All contents of a commit by path. */
async function contentsOf(mirror: Mirror, commit: CommitHash): Promise<Record<string, string>> {
  const contents: Record<string, string> = {}
  const listing = mirror.listing(commit, [parseRelativePath('')])
  for await (const batch of listing.list(signal)) {
    let current = ''
    const sink = {
      begin: ({ path: file }: { path: string }) => void (contents[(current = file)] = ''),
      data: (chunk: Uint8Array) => void (contents[current] += Buffer.from(chunk).toString('latin1')),
      end() {},
    }
    await listing.read(batch, sink, signal)
  }
  return contents
}

/** Contents that differ enough to be separate objects in a pack. */
const noise = (seed: number): string =>
  Array.from({ length: 300 }, (_, index) => ((index * 7919 + seed * 104729) % 99991).toString(36)).join()

void t.test('a damaged mirror is recreated within the call that detects the damage', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'damage')
  const hosts = await Promise.all(hostModes.map((mode) => startGitHost(path.join(folder, 'git'), { mode })))
  t.teardown(async () => Promise.all(hosts.map((host) => host.stop())))
  const repository = makeRepository(path.join(folder, 'git/plant.git'))
  const before = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`d/${index}`, noise(index)]))
  const after = { ...before, new: '1', 'd/3': noise(99) }
  const first = parseCommitHash(repository.commit(before))
  const second = parseCommitHash(repository.commit(after))
  // A state folder may be inside another git work tree.
  const around = makeRepository(path.join(folder, 'around'))
  around.commit({ own: '1' })
  let worlds = 0

  /** Creates a separate branch at the first commit, in a separate mirror. */
  const setUp = async (t: Test, damage: Damage, restarts: boolean) => {
    // The host modes alternate.
    const remote = anonymousRemote(hosts[worlds % hosts.length]?.url('plant.git/.git') ?? '', { allowLocal: false })
    const [branch, state] = [`b${(worlds += 1)}`, path.join(folder, 'around', `mirrors${worlds}`)]
    const push = (commit: CommitHash) => fs.writeFileSync(path.join(repository.folder, '.git/refs/heads', branch), `${commit}\n`)
    const open = (): Mirror => {
      const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog })
      t.teardown(async () => mirrors.close())
      return mirrors.of(remote)
    }
    const mirror = open()
    const resolve = async (of: Mirror, fresh = true) => {
      const { commit, committedAt } = await of.resolve(branch, { fresh }, signal)
      t.match(await committedAt, /^\d{4}-/)
      return commit
    }
    push(first)
    await resolve(mirror)
    return {
      mirror,
      push,
      resolve,
      hurt(): Mirror {
        const [key = ''] = fs.readdirSync(state)
        damage(path.join(state, key))
        return restarts ? open() : mirror
      },
    }
  }

  const calls: readonly ((t: Test, damage: Damage, restarts: boolean) => Promise<void>)[] = [
    async (t, damage, restarts) => {
      const next = await setUp(t, damage, restarts)
      const hurt = next.hurt()
      next.push(second)
      t.equal(await next.resolve(hurt), second, 'the next commit')
      t.strictSame(await contentsOf(hurt, second), after)
    },
    async (t, damage) => {
      const known = await setUp(t, damage, false)
      const byHash = await known.hurt().resolve(first, { fresh: true }, signal)
      t.match(await byHash.committedAt, /^\d{4}-/, 'the time of a commit that is known to be present')
    },
    async (t, damage, restarts) => {
      const same = await setUp(t, damage, !restarts)
      const again = same.hurt()
      t.equal(await same.resolve(again, false), first, 'the same commit, when the host is asked')
      await again.ensure(first, signal)
      t.strictSame(await contentsOf(again, first), before)
    },
    async (t, damage, restarts) => {
      const back = await setUp(t, damage, restarts)
      back.push(second)
      await back.resolve(back.mirror)
      const older = back.hurt()
      await older.ensure(first, signal)
      t.strictSame(await contentsOf(older, first), before, 'an earlier commit')
    },
  ]

  for (const [index, [name, damage]] of Object.entries(damages).entries()) {
    // The damage happens alternately while the process runs and before it starts.
    const restarts = index % 2 === 1
    await t.test(`${name}, ${restarts ? 'before the process starts' : 'while it runs'}`, async (t) => {
      // Each damage is tested with two of the four calls; similar damages are next to each other in the list.
      for (const call of [calls[index % 4], calls[(index + 1) % 4]]) await call?.(t, damage, restarts)
    })
  }
  t.equal(around.git('for-each-ref', 'refs/w/').toString(), '', 'the repository around them is left alone')
})

void t.test('a damaged mirror also resolves the default branch and the newest tag', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'damage')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  let pushed = 0
  const push = (): CommitHash => {
    const commit = repository.commit({ a: String((pushed += 1)) })
    repository.git('tag', `v1.0.${pushed}`)
    return parseCommitHash(commit)
  }
  const damage = (name: string): void =>
    damages[name]?.(path.join(folder, 'mirrors', fs.readdirSync(path.join(folder, 'mirrors'))[0] ?? ''))
  push()
  for (const ref of ['HEAD', 'semver:>=1'])
    for (const name of ['a damaged config', 'no HEAD', 'a file in place of the folder']) {
      await mirror.resolve(ref, { fresh: true }, signal)
      damage(name)
      const commit = push()
      const found = await mirror.resolve(ref, { fresh: true }, signal)
      t.equal(found.commit, commit, `${ref}, ${name}`)
      t.strictSame(await contentsOf(mirror, commit), { a: String(pushed) })
    }
})

void t.test('a fault of the git host does not count as mirror damage, and the mirror keeps its commits', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'damage')
  const host = await startGitHost(path.join(folder, 'git'))
  const repository = host.repository('plant.git')
  const commit = parseCommitHash(repository.commit({ a: '1' }))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  await mirror.resolve('main', { fresh: true }, signal)
  // An object that upload-pack needs is missing at the host, so upload-pack stops in the middle of its response.
  repository.commit({ b: '2' })
  const objects = path.join(repository.folder, '.git/objects')
  const blob = repository.git('rev-parse', 'HEAD:b').toString().trim()
  fs.rmSync(path.join(objects, blob.slice(0, 2), blob.slice(2)))
  await t.rejects(mirror.resolve('main', { fresh: true }, signal))
  t.strictSame(await contentsOf(mirror, commit), { a: '1' })
  await host.stop()
  const fault: unknown = await mirror.resolve('main', { fresh: true }, signal).catch((error: unknown) => error)
  matchObject(t, fault, { reason: 'GitConnectionRefused' })
  t.strictSame(await contentsOf(mirror, commit), { a: '1' })
})

void t.test('a damaged pack of an earlier commit costs the next commit one fetch', async (t) => {
  if (!requires(t, 'git')) return
  const damagesOfOne: Record<string, Damage> = {
    'no pack at all': inPacks('.pack', (file) => fs.writeFileSync(file, 'x'.repeat(500))),
    'half a pack': inPacks('.pack', (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2))),
    'no index at all': inPacks('.idx', (file) => fs.writeFileSync(file, 'x'.repeat(1_500))),
    'the beginning of an index': inPacks('.idx', (file) => fs.truncateSync(file, 100)),
  }
  for (const [name, damage] of Object.entries(damagesOfOne)) {
    await t.test(name, async (t) => {
      const folder = temporaryFolder(t, 'damage')
      const host = await startGitHost(path.join(folder, 'git'))
      t.teardown(async () => host.stop())
      const repository = host.repository('plant.git')
      const state = path.join(folder, 'mirrors')
      const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog })
      t.teardown(async () => mirrors.close())
      const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
      const resolve = async () => (await mirror.resolve('main', { fresh: true }, signal)).commit
      repository.commit({ a: noise(1), b: noise(2), c: noise(3) })
      await resolve()
      const [key = ''] = fs.readdirSync(state)
      const packs = path.join(state, key, 'objects', 'pack')
      const first = new Set(fs.readdirSync(packs))
      repository.commit({ a: noise(4) })
      await resolve()
      // The objects that both commits share are only in the pack of the first commit.
      const aside = path.join(folder, 'aside')
      fs.mkdirSync(aside)
      const others = fs.readdirSync(packs).filter((file) => !first.has(file))
      for (const file of others) fs.renameSync(path.join(packs, file), path.join(aside, file))
      damage(path.join(state, key))
      for (const file of others) fs.renameSync(path.join(aside, file), path.join(packs, file))
      const third = parseCommitHash(repository.commit({ b: noise(5) }))
      t.equal(await resolve(), third)
      t.strictSame(await contentsOf(mirror, third), { a: noise(4), b: noise(5), c: noise(3) })
    })
  }
})
