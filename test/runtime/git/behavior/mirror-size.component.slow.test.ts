/**
 * The disk use of a mirror over its life: proportional to the needed commits, however often the process restarts.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { importCommits, makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(560_000)

function sizeOf(folder: string): { files: number; bytes: number } {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = entries.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0)
  return { files: entries.length, bytes }
}

/** Text that does not compress. */
const noise = (seed: number): string => {
  let state = seed * 2654435761 + 1
  return Array.from({ length: 4_000 }, () => ((state = (state * 1103515245 + 12345) % 2147483648), state.toString(36))).join('')
}

void t.test('disk use stays constant over processes that fetch one commit each', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'size')
  const repository = makeRepository(path.join(folder, 'plant'))
  const runs = 110
  const commits = importCommits(
    repository,
    Array.from({ length: runs }, (_, index) => ({ 'projects/a.bin': noise(index + 1) })),
  )
  const state = path.join(folder, 'mirrors')
  const remote = anonymousRemote(repository.folder, { allowLocal: true })
  const sizes: { files: number; bytes: number }[] = []
  for (const commit of commits) {
    repository.git('update-ref', 'refs/heads/main', commit)
    const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog, needed: () => new Set([commit]) })
    t.equal((await mirrors.of(remote).resolve('main', { fresh: true }, signal)).commit, parseCommitHash(commit))
    await mirrors.close()
    sizes.push(sizeOf(state))
  }
  const most = (from: number, to: number, what: 'files' | 'bytes') => Math.max(...sizes.slice(from, to).map((size) => size[what]))
  for (const what of ['files', 'bytes'] as const)
    t.ok(most(60, runs, what) <= most(0, 60, what) * 1.1, `${what}: ${most(0, 60, what)} in the first runs, ${most(60, runs, what)} later`)
  t.ok(most(0, runs, 'files') < 250)
  const last = sizes.findLast((_size, index) => (sizes[index]?.bytes ?? 0) < (sizes[index - 1]?.bytes ?? 0))
  t.ok((last?.bytes ?? Infinity) < 4 * noise(1).length, 'after a clean-up only what is needed is left')
})

const mebibyte = 1024 * 1024

void t.test('in a large repository small packs are merged into a few, and the large pack stays unchanged', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'size')
  const repository = makeRepository(path.join(folder, 'plant'))
  const files = Array.from({ length: 2_000 }, (_, index) => [`projects/f${index}`, randomBytes(2_400).toString('base64')] as const)
  const pushes = Array.from({ length: 32 }, (_, round) => ({ 'projects/f0': `${round}\n` }))
  const commits = importCommits(repository, [Object.fromEntries(files), ...pushes])
  const state = path.join(folder, 'mirrors')
  const needed = new Set<string>()
  const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog, needed: () => needed })
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const packs: string[][] = []
  for (const commit of commits) {
    needed.clear()
    needed.add(commit)
    repository.git('update-ref', 'refs/heads/main', commit)
    await mirror.resolve('main', { fresh: true }, signal)
    await mirror.settled()
    packs.push(readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.pack')))
  }
  await mirrors.close()
  const [[large = ''] = []] = packs
  t.ok(packs.every((present) => present.includes(large)))
  t.ok((packs.at(-1)?.length ?? Infinity) < 10)
  const { bytes } = sizeOf(state)
  t.ok(bytes < 8 * mebibyte, `${bytes} bytes: nothing is fetched a second time`)
})

void t.test('fetched bytes and the use of the volume are reported, and a failed fetch adds almost nothing', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'size')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ 'projects/a.bin': noise(1) })
  const fetched: number[] = []
  const rooms: { usedBytes: number; limitBytes: number }[] = []
  const mirrors = createMirrors({
    folder: path.join(folder, 'mirrors'),
    clock: systemClock,
    log: silentLog,
    maxBytes: 100 * mebibyte,
    figures: { fetchedBytes: (bytes) => fetched.push(bytes), volume: (room) => rooms.push(room) },
  })
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  await mirror.resolve('main', { fresh: true }, signal)
  const brought = fetched.reduce((sum, bytes) => sum + bytes, 0)
  t.ok(brought > noise(1).length / 3 && brought < 3 * noise(1).length, `${brought} bytes of a file of ${noise(1).length}`)
  await t.rejects(mirror.resolve('missing', { fresh: true }, signal), /has no branch/)
  t.ok(fetched.reduce((sum, bytes) => sum + bytes, 0) < brought + 10_000, 'only what git writes down of its question')
  await mirrors.close()
  t.equal(rooms.at(-1)?.limitBytes, 100 * mebibyte)
  t.ok((rooms.at(-1)?.usedBytes ?? 0) >= brought && (rooms.at(-1)?.usedBytes ?? 0) < 2 * mebibyte, 'nothing is reserved any more')
})
