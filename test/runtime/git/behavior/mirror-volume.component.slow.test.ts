/**
 * A full or read-only mirror volume: no mirror is reported as damaged, stored commits are served, and the next fetch with enough space
 * works.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { createLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors, type Mirror } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(560_000)
const volumeMiB = 24
const full = 'SourceVolumeFull: no space is left on the volume for mirrors (source.storage)'

function mayNot(t: Test): boolean {
  if (process.geteuid?.() === 0) return !requires(t, 'git', 'mount', 'umount')
  absent(t, 'only root may make a volume')
  return true
}

type Line = { msg: string; reason?: string }

function setUp(t: Test) {
  const folder = temporaryFolder(t, 'volume')
  const volume = path.join(folder, 'volume')
  mkdirSync(volume)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${volumeMiB}m`, 'none', volume])
  t.teardown(() => execFileSync('umount', ['--lazy', volume]))
  const state = path.join(volume, 'mirrors')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  const logged: Line[] = []
  const destination = new Writable({
    write(line, _encoding, done) {
      const { msg, reason } = JSON.parse(String(line)) as Line
      logged.push({ msg, ...(reason === undefined ? {} : { reason }) })
      done()
    },
  })
  /** No clean-up runs before this promise resolves. */
  const quiet = Promise.withResolvers<void>()
  const open = (): Mirror => {
    const clock = { ...systemClock, wait: async () => await quiet.promise }
    const mirrors = createMirrors({ folder: state, clock, log: createLog({ level: 'info', destination }) })
    t.teardown(async () => {
      quiet.resolve()
      await mirrors.close()
    })
    return mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  }
  const filler = path.join(volume, 'filler')
  return {
    repository,
    logged,
    open,
    quiet: () => quiet.resolve(),
    push: (changes: Record<string, string>) => parseCommitHash(repository.commit(changes)),
    mirrorFolder: () => path.join(state, readdirSync(state).find((name) => !name.endsWith('.new')) ?? ''),
    fill() {
      const descriptor = openSync(filler, 'a')
      try {
        // Full pages first, then the rest of the last page.
        for (const bytes of [4096, 1]) for (;;) if (!wrote(descriptor, bytes)) break
      } finally {
        closeSync(descriptor)
      }
    },
    makeRoom: () => rmSync(filler),
    readOnly: () => execFileSync('mount', ['-o', 'remount,ro', volume]),
  }
}

function wrote(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(bytes)) > 0
  } catch {
    return false
  }
}

async function resolve(mirror: Mirror): Promise<string> {
  try {
    const { commit, committedAt } = await mirror.resolve('main', { fresh: true }, signal)
    await committedAt
    return commit
  } catch (error) {
    if (error instanceof Fault) return `${error.reason}: ${error.message}`
    throw error
  }
}

/** The content of a file of a commit, or the fault of reading it. */
async function read(mirror: Mirror, commit: CommitHash, file: string): Promise<string> {
  try {
    await mirror.ensure(commit, signal)
    const listing = mirror.listing(commit, [parseRelativePath(file)])
    let text = ''
    const sink = { begin() {}, data: (chunk: Uint8Array) => void (text += Buffer.from(chunk).toString('latin1')), end() {} }
    for await (const batch of listing.list(signal)) await listing.read(batch, sink, signal)
    return text
  } catch (error) {
    if (error instanceof Fault) return `${error.reason}: ${error.message}`
    throw error
  }
}

void t.test('after a clean-up and a fetch without space the mirror still serves, and a push is fetched with space', async (t) => {
  if (mayNot(t)) return
  const { push, open, quiet, fill, makeRoom, logged } = setUp(t)
  const mirror = open()
  // Large enough that a clean-up does not repack everything each time.
  push({ large: randomBytes(5_000_000).toString('base64'), round: 'first' })
  t.match(await resolve(mirror), /^[0-9a-f]{40}$/)
  let held = '' as CommitHash
  for (let round = 0; round < 30; round += 1) {
    held = push({ round: `${round}` })
    t.equal(await resolve(mirror), held)
  }
  fill()
  quiet()
  await mirror.settled()
  t.strictSame(logged, [{ msg: 'a mirror was not cleaned up', reason: 'SourceVolumeFull' }])
  t.equal(await read(mirror, held, 'round'), '29')
  const next = push({ round: 'next', more: randomBytes(100_000).toString('base64') })
  t.equal(await resolve(mirror), full)
  t.equal(await read(mirror, held, 'round'), '29', 'after a fetch without room')
  makeRoom()
  t.equal(await resolve(mirror), next)
  t.equal(await read(mirror, next, 'round'), 'next')
  await mirror.settled()
  t.strictSame([...new Set(logged.map(({ msg }) => msg))], ['a mirror was not cleaned up'], 'nothing was fetched anew')
})

void t.test('a damaged mirror that cannot be recreated for lack of space serves its intact commits', async (t) => {
  if (mayNot(t)) return
  const { push, open, fill, makeRoom, mirrorFolder } = setUp(t)
  const mirror = open()
  const whole = push({ a: '1' })
  t.equal(await resolve(mirror), whole)
  const before = new Set(readdirSync(path.join(mirrorFolder(), 'objects/pack')))
  const damaged = push({ b: randomBytes(10_000).toString('base64') })
  t.equal(await resolve(mirror), damaged)
  for (const name of readdirSync(path.join(mirrorFolder(), 'objects/pack')))
    if (!before.has(name)) rmSync(path.join(mirrorFolder(), 'objects/pack', name))
  fill()
  t.equal(await read(mirror, damaged, 'b'), full)
  t.equal(await read(mirror, whole, 'a'), '1')
  makeRoom()
  t.ok((await read(mirror, damaged, 'b')).length > 10_000)
})

void t.test('a process that starts on a full volume serves the stored commits', async (t) => {
  if (mayNot(t)) return
  const { push, open, fill, logged } = setUp(t)
  const held = push({ a: '1' })
  t.equal(await resolve(open()), held)
  fill()
  t.equal(await read(open(), held, 'a'), '1')
  t.strictSame(logged, [])
})

void t.test('a process that starts on a read-only volume serves the stored commits, even after a clean-up', async (t) => {
  if (mayNot(t)) return
  const { push, open, quiet, readOnly, logged, mirrorFolder } = setUp(t)
  const before = open()
  let held = '' as CommitHash
  for (let round = 0; round < 31; round += 1) {
    held = push({ a: '1', round: `${round}` })
    t.equal(await resolve(before), held)
  }
  quiet()
  await before.settled()
  t.ok(readdirSync(path.join(mirrorFolder(), 'objects/pack')).length < 10, 'a clean-up was made')
  readOnly()
  const mirror = open()
  t.equal(await read(mirror, held, 'a'), '1')
  push({ a: '2' })
  t.equal(await resolve(mirror), 'SourceVolumeFull: the volume for mirrors (source.storage) is read-only')
  t.equal(await read(mirror, held, 'a'), '1')
  t.strictSame(logged, [])
})
