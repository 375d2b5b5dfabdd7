/**
 * Tests a data directory that is emptied, replaced or restored while a sync runs: the next cycle detects it, verifies every file by its
 * content, and reports the cause.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { Source } from '../../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const first: Tree = { 'projects/a': '1', 'projects/gone/x': 'x', 'projects/same': 's', 'projects/b': '1' }
const second: Tree = { 'projects/a': '2', 'projects/new/y': 'y', 'projects/same': 's', 'projects/b': '1' }
const third: Tree = { ...second, 'projects/b': '3' }

function setUp(t: Test) {
  const folder = temporaryFolder(t, 'replaced')
  const dataDir = path.join(folder, 'data')
  const backup = path.join(folder, 'backup')
  mkdirSync(dataDir)
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  t.teardown(() => releaseLock(dataDir))
  return {
    dataDir,
    backup,
    sync: (tree: Tree, from: Source = source): Promise<CycleResult> => {
      const deps = { source: from, gateway: undefined, clock: systemClock, log: silentLog, memory }
      return runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), AbortSignal.timeout(60_000))
    },
    content: (): Tree =>
      Object.fromEntries(
        listTree(path.join(dataDir, 'projects')).map((file) => [
          `projects/${file}`,
          readFileSync(path.join(dataDir, 'projects', file), 'utf8'),
        ]),
      ),
  }
}

/** Changes to the data directory while its folder is at the second commit; `backup` contains the first one with its records. */
const losses: [string, RegExp, (dataDir: string, backup: string) => void][] = [
  [
    'everything but hidden files is removed',
    /^the data directory was emptied or replaced: its folder "projects" is gone; /,
    (dataDir) => {
      for (const name of readdirSync(dataDir)) if (!name.startsWith('.')) rmSync(path.join(dataDir, name), { recursive: true })
    },
  ],
  [
    'everything is removed',
    /^the data directory was replaced or restored while the sync ran; /,
    (dataDir) => {
      for (const name of readdirSync(dataDir)) rmSync(path.join(dataDir, name), { recursive: true })
    },
  ],
  [
    'another folder takes its place',
    /^the data directory was replaced or restored while the sync ran; /,
    (dataDir) => {
      renameSync(dataDir, `${dataDir}.old`)
      mkdirSync(dataDir)
    },
  ],
  [
    'a backup with its records takes its place',
    /^the data directory was replaced or restored while the sync ran; /,
    (dataDir, backup) => {
      rmSync(dataDir, { recursive: true })
      cpSync(backup, dataDir, { recursive: true, preserveTimestamps: true })
    },
  ],
  [
    'a backup with its records is copied over it',
    /^the data directory was replaced or restored while the sync ran; .*projects\/new\/y/,
    (dataDir, backup) => cpSync(backup, dataDir, { recursive: true, preserveTimestamps: true }),
  ],
  [
    'our own records are removed',
    /^the data directory was replaced or restored while the sync ran; /,
    (dataDir) => rmSync(path.join(dataDir, '.cluster-sync'), { recursive: true }),
  ],
]

for (const [what, why, lose] of losses) {
  void t.test(`${what}: the next cycle says so and ends exact, for the same commit and for another`, async (t) => {
    for (const next of [second, third, first]) {
      const { dataDir, backup, sync, content } = setUp(t)
      t.equal((await sync(first)).phase, 'Synced')
      cpSync(dataDir, backup, { recursive: true, preserveTimestamps: true })
      t.equal((await sync(second)).phase, 'Synced')
      lose(dataDir, backup)
      const result = await sync(next)
      t.equal(result.phase, 'Synced', result.message ?? '')
      const [finding] = result.findings ?? []
      if (!(what.includes('copied over') && next !== first)) t.match(`${finding?.message}`, new RegExp(why.source.replace(/ \.\*.*$/, '')))
      const strangers = Object.keys(content()).filter((file) => !(file in next))
      t.ok(
        strangers.every((file) => `${finding?.message}`.includes(file)),
        `named: ${strangers.join(' ')}`,
      )
      for (const file of strangers) rmSync(path.join(dataDir, file))
      t.strictSame(content(), next)
      const again = await sync(next)
      t.equal(again.phase, 'Synced')
      t.strictSame(again.files, { added: 0, changed: 0, removed: 0, unchanged: Object.keys(next).length, bytes: 0 })
    }
  })
}

void t.test('while a replaced folder cannot be verified, no commit is reported and the report says why', async (t) => {
  const { dataDir, sync } = setUp(t)
  t.equal((await sync(first)).phase, 'Synced')
  rmSync(path.join(dataDir, 'projects'), { recursive: true })
  const fault = new Fault('DeliveryUnreachable', 'the controller does not answer')
  const away: Source = {
    async *changes() {
      yield* []
      throw fault
    },
    blobs: () => Promise.reject(fault),
    files: () => Promise.reject(fault),
  }
  for (const when of ['at once', 'and again']) {
    const { phase, reason, commit, findings = [] } = await sync(first, away)
    t.strictSame({ phase, reason, commit }, { phase: 'Failed', reason: 'DeliveryUnreachable', commit: undefined }, when)
    t.equal(findings[0]?.rule, 'folder-unverified')
    t.match(findings[0]?.message, /; the next sync verifies every file by its content$/)
  }
  t.equal((await sync(first)).phase, 'Synced')
})
