/**
 * Tests the sixteen commits of a real gateway project, forward, backward and in random jumps: each time the folder matches the commit in
 * git, and only changed blobs are fetched.
 */
import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { differences } from '../../../../scripts/quickstart/check.ts'
import { profileOf, desiredOf } from '../../../support/memory-source.ts'
import { isNeverWritten } from '../../../support/never-written.ts'
import { cloneBundle, commitsOf, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires, sharedData } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(240_000)
const profile = profileOf([{ source: 'services', destination: '.', required: false }])
const isDelivered = (file: string): boolean => !isNeverWritten(file)

function setUp(t: Test) {
  const bundle = sharedData(t, 'real/lab04.bundle')
  if (bundle === undefined || !requires(t, 'git')) return undefined
  const folder = temporaryFolder(t, 'real')
  const repository = cloneBundle(bundle, path.join(folder, 'repository'))
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const inner = mirror.source(() => [parseRelativePath('services')])
  const fetched = new Set<string>()
  const source: typeof inner = {
    ...inner,
    async blobs(request, sink, own) {
      for (const id of request.ids) fetched.add(id)
      await inner.blobs(request, sink, own)
    },
  }
  const memory: EngineMemory = { manifest: undefined }
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  /** Syncs the folder to a commit. Returns the differences that git finds, and the fetched IDs. */
  const move = async (to: string) => {
    const commit = parseCommitHash(to)
    await mirror.ensure(commit, signal)
    fetched.clear()
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    // Some commits delete what a gateway runs with, which this test does not cover.
    const desired = { ...desiredOf(dataDir, commit, profile), confirmDeletions: commit }
    const { phase, message, files } = await runCycle(deps, desired, signal)
    if (phase !== 'Synced') throw new Error(`${phase}: ${message}`)
    const placed = [{ source: 'services', destination: '.' }]
    return { wrong: differences({ repository: repository.folder, commit, dataDir, placed, ignored: isNeverWritten }), fetched, files }
  }
  return { repository, commits: commitsOf(repository), move, memory, dataDir }
}

/** The changes that git finds between two commits below `services`, limited to delivered files: added IDs and the number of paths. */
function changedIn(repository: Repository, from: string, to: string): { ids: Set<string>; paths: number } {
  const entries = repository.git('diff-tree', '-r', '-z', '--no-renames', from, to, '--', 'services').toString('utf8').split('\0')
  const ids = new Set<string>()
  let paths = 0
  for (let index = 0; index + 1 < entries.length; index += 2) {
    const [, , , id = '', status] = (entries[index] ?? '').split(' ')
    if (!isDelivered((entries[index + 1] ?? '').replace('services/', ''))) continue
    paths += 1
    if (status !== 'D') ids.add(id)
  }
  return { ids, paths }
}

void t.test('each commit is applied exactly in any order, at the cost of its differences', async (t) => {
  const set = setUp(t)
  if (set === undefined) return
  const { repository, commits, move } = set
  t.equal(commits.length, 16)
  const backwards = commits.toReversed().slice(1)
  const jumps = Array.from({ length: 20 }, () => commits[Math.floor(Math.random() * commits.length)] ?? '')
  let last: string | undefined
  for (const commit of [...commits, ...backwards, ...jumps]) {
    const { wrong, fetched, files } = await move(commit)
    t.strictSame(wrong, [], `${last} -> ${commit}`)
    if (last !== undefined && last !== commit) {
      const { ids, paths } = changedIn(repository, last, commit)
      t.ok(
        [...fetched].every((id) => ids.has(id)),
        `${fetched.size} blobs were fetched, all of the ${ids.size} that differ`,
      )
      const { added = 0, changed = 0, removed = 0 } = files ?? {}
      t.equal(added + changed + removed, paths, `${paths} files were touched`)
    }
    last = commit
  }
})

void t.test('executable bits and sizes are exact, and a restarted agent continues from the current state', async (t) => {
  const set = setUp(t)
  if (set === undefined) return
  const { repository, commits, move, memory, dataDir } = set
  const [first = '', , , , middle = ''] = commits
  const last = commits.at(-1) ?? ''
  for (const commit of [first, last, middle]) {
    memory.manifest = undefined
    t.strictSame((await move(commit)).wrong, [])
  }
  const modes = repository.git('ls-tree', '-r', '-z', middle, 'services/').toString('utf8').split('\0').filter(Boolean)
  for (const entry of modes) {
    const [, mode = '', file = ''] = /^(\d+) blob [0-9a-f]+\tservices\/(.*)$/s.exec(entry) ?? []
    if (!isDelivered(file) || !mode.startsWith('100')) continue
    const executable = (statSync(path.join(dataDir, file)).mode & 0o111) !== 0
    if (executable !== (mode === '100755')) t.fail(`${file} has not the mode ${mode}`)
  }
  t.ok(modes.length > 100)
})
