/**
 * Tests missing, truncated or corrupted engine records and lost staged files: the folder ends at exactly the desired commit, or with a
 * finding that names the suspect files. Nothing unverified is reported as synced.
 */
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { Source } from '../../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, readSynced, recoverFolder, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject } from '../../../support/assertions.ts'
import { bundlePrograms } from '../../../support/measured-process.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const many = (content: string, from: number, to: number): Tree =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`projects/q/f${from + index}`, content]))
const before: Tree = { ...many('1', 0, 6), 'projects/gone/x': 'x', 'projects/same': 's' }
const after: Tree = { ...many('2', 3, 9), 'projects/new/tree/n': 'n', 'projects/same': 's' }
const source = memorySource()
const commits = { before: source.commit(before), after: source.commit(after) }
const away: Source = {
  async *changes() {
    yield* []
    throw new Fault('GitUnreachable', 'the git host is away')
  },
  blobs: () => Promise.reject(new Fault('GitUnreachable', 'the git host is away')),
  files: () => Promise.reject(new Fault('GitUnreachable', 'the git host is away')),
}

function contentOf(dataDir: string): Record<string, string> {
  const folder = path.join(dataDir, 'projects')
  return Object.fromEntries(listTree(folder).map((file) => [`projects/${file}`, readFileSync(path.join(folder, file), 'utf8')]))
}

async function cycle(dataDir: string, tree: Tree, as: ResolvedProfile = profile, from: Source = source): Promise<CycleResult> {
  const deps = { source: from, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), as, { paused: as.paused }), AbortSignal.timeout(60_000))
  releaseLock(dataDir)
  return result
}

const engineFile = (dataDir: string, name: string): string => path.join(dataDir, '.cluster-sync', name)
const flip = (file: string, at: number): void => {
  const content = readFileSync(file)
  const place = Math.floor(at * content.length)
  content[place] = (content[place] ?? 0) ^ (1 << (Math.floor(at * 8_000) % 8))
  writeFileSync(file, content)
}
const runFolder = (dataDir: string): string =>
  engineFile(dataDir, readdirSync(path.join(dataDir, '.cluster-sync')).find((name) => name.startsWith('run-')) ?? 'run-none')

/** Damage to the engine records between the death of a process and the next start. */
const losses: [string, (dataDir: string) => void][] = [
  ['the folder with what was staged', (dataDir) => rmSync(runFolder(dataDir), { recursive: true, force: true })],
  [
    'half of what was staged',
    (dataDir) => {
      for (const name of readdirSync(runFolder(dataDir)).filter((_, index) => index % 2 === 0))
        rmSync(path.join(runFolder(dataDir), name), { recursive: true })
    },
  ],
  [
    'the size of what was staged or kept',
    (dataDir) => {
      const folder = runFolder(dataDir)
      if (!existsSync(folder)) return
      // Applies to deleted and new files alike. A file with two names is still the unchanged original.
      for (const name of listTree(folder))
        if (statSync(path.join(folder, name)).nlink === 1) appendFileSync(path.join(folder, name), 'damaged')
    },
  ],
  ['the manifest', (dataDir) => rmSync(engineFile(dataDir, 'manifest'))],
  [
    'the manifest and what was staged',
    (dataDir) => {
      rmSync(engineFile(dataDir, 'manifest'))
      rmSync(runFolder(dataDir), { recursive: true, force: true })
    },
  ],
  ['a bit of the manifest', (dataDir) => flip(engineFile(dataDir, 'manifest'), 0.4)],
  ['a bit of the journal', (dataDir) => flip(engineFile(dataDir, 'journal'), 0.3)],
  [
    'a bit of the manifest and one of the journal',
    (dataDir) => {
      flip(engineFile(dataDir, 'manifest'), 0.4)
      flip(engineFile(dataDir, 'journal'), 0.3)
    },
  ],
  ['the end of the journal', (dataDir) => truncateSync(engineFile(dataDir, 'journal'), statSync(engineFile(dataDir, 'journal')).size >> 1)],
]

async function kills(folder: string): Promise<string[]> {
  const programs = path.resolve(import.meta.dirname, '../../../support/programs')
  const [program = ''] = await bundlePrograms([path.join(programs, 'one-cycle.ts')], folder)
  const seed = path.join(folder, 'seed')
  mkdirSync(seed)
  await cycle(seed, before)
  const killed: string[] = []
  for (let boundary = 1; ; boundary += 1) {
    const dataDir = path.join(folder, `killed-${boundary}`)
    cpSync(seed, dataDir, { recursive: true, preserveTimestamps: true })
    const signal = await new Promise<string | null>((resolve, reject) => {
      const child = spawn('env', ['--ignore-environment', process.execPath, program, dataDir, String(boundary)], {
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      child.once('error', reject).once('close', (_code, ended) => resolve(ended))
      child.stdin.end(JSON.stringify([before, after]))
    })
    if (signal === null) return killed
    if (readdirSync(path.join(dataDir, '.cluster-sync')).includes('journal')) killed.push(dataDir)
  }
}

void t.test(
  'after a kill during an apply and the loss of a record the folder ends at the desired commit',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'env')) return
    const folder = temporaryFolder(t, 'suspect')
    const killed = await kills(folder)
    t.ok(killed.length > 8, `${killed.length} places within an apply`)
    const dataDir = path.join(folder, 'tried')
    const restore = (from: string): void => {
      rmSync(dataDir, { recursive: true, force: true })
      cpSync(from, dataDir, { recursive: true, preserveTimestamps: true })
    }
    for (const from of killed) {
      for (const [what, lose] of losses) {
        const name = `without ${what}, ${path.basename(from)}`
        for (const tree of [after, before]) {
          restore(from)
          lose(dataDir)
          const alone = await cycle(dataDir, tree, profile, away)
          t.ok(alone.commit === undefined || isExactly(dataDir, alone.commit), `no commit is named that is not in place, ${name}`)
          const result = await cycle(dataDir, tree)
          t.equal(result.phase, 'Synced', name)
          const strangers = Object.keys(contentOf(dataDir)).filter((file) => !(file in tree))
          const told = JSON.stringify(result.findings ?? [])
          t.ok(
            strangers.every((file) => told.includes(file)),
            `what is of another commit is named, ${name}`,
          )
          for (const file of strangers) rmSync(path.join(dataDir, file))
          t.strictSame(contentOf(dataDir), tree, name)
        }
      }
    }
  },
)

function isExactly(dataDir: string, commit: string): boolean {
  const tree = commit === commits.before ? before : after
  return isDeepStrictEqual(contentOf(dataDir), tree)
}

void t.test('an interrupted apply is completed before waiting for the git host, a pause or a dry run', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'env')) return
  const folder = temporaryFolder(t, 'suspect')
  const killed = await kills(folder)
  const dataDir = path.join(folder, 'tried')
  /** Moves the next killed folder here. A copy would change the inodes, which identify staged files. */
  const restore = (): void => {
    rmSync(dataDir, { recursive: true, force: true })
    renameSync(killed.shift() ?? '', dataDir)
    t.equal(readSynced(dataDir), undefined, 'nothing is in place while it is interrupted')
  }
  const expectEnded = (how: string): void => {
    t.strictSame(contentOf(dataDir), after, how)
    t.equal(readSynced(dataDir)?.commit, commits.after, how)
  }
  restore()
  matchObject(t, await cycle(dataDir, before, profile, away), { phase: 'Failed', reason: 'GitUnreachable', commit: commits.after })
  expectEnded('git host away')
  restore()
  matchObject(t, await cycle(dataDir, before, { ...profile, paused: true }), { phase: 'Paused', commit: commits.after })
  expectEnded('paused')
  restore()
  matchObject(t, await cycle(dataDir, before, { ...profile, dryRun: true }), { phase: 'DryRun', commit: commits.after })
  expectEnded('dry run')
  restore()
  const deps = { clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  matchObject(t, await recoverFolder(deps, dataDir, AbortSignal.timeout(60_000)), { commit: commits.after })
  releaseLock(dataDir)
  expectEnded('at the start of a process')
})

void t.test('one flipped bit or a truncation anywhere in the manifest is detected and repaired', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'suspect')
  const seed = path.join(folder, 'seed')
  mkdirSync(seed)
  await cycle(seed, before)
  await cycle(seed, after)
  await cycle(seed, before)
  const dataDir = path.join(folder, 'tried')
  const size = statSync(engineFile(seed, 'manifest')).size
  for (let round = 0; round < 200; round += 1) {
    rmSync(dataDir, { recursive: true, force: true })
    cpSync(seed, dataDir, { recursive: true, preserveTimestamps: true })
    const at = (round + 0.5) / 200
    const manifest = engineFile(dataDir, 'manifest')
    if (round % 4 === 0) truncateSync(manifest, Math.floor(at * size))
    else flip(manifest, at)
    // A local change, which would be reported as synced without verification.
    const file = path.join(dataDir, 'projects/q/f0')
    writeFileSync(file, 'L')
    const result = await cycle(dataDir, before)
    t.equal(result.phase, 'Synced', `${result.message}`)
    t.strictSame(contentOf(dataDir), before, `at ${at}`)
    t.equal((await cycle(dataDir, after)).phase, 'Synced')
    t.strictSame(contentOf(dataDir), after, `ownership is whole again, at ${at}`)
  }
})

void t.test('with an older manifest restored between runs, differences are reported as drift or restored', async (t) => {
  const dataDir = temporaryFolder(t, 'suspect')
  await cycle(dataDir, before)
  const old = readFileSync(engineFile(dataDir, 'manifest'))
  const between = { 'projects/between': 'b' }
  await cycle(dataDir, { ...after, ...between })
  writeFileSync(engineFile(dataDir, 'manifest'), old)
  const drifted = await cycle(dataDir, before)
  t.equal(drifted.phase, 'Drifted')
  const changed = ['gone/x', 'q/f0', 'q/f1', 'q/f2', 'q/f3', 'q/f4', 'q/f5'].map((name) => `projects/${name}`)
  t.strictSame(drifted.drift?.paths.toSorted(), changed)
  t.equal((await cycle(dataDir, before, { ...profile, drift: 'Restore' })).phase, 'Synced')
  const unknown = Object.fromEntries(Object.entries({ ...after, ...between }).filter(([file]) => !(file in before)))
  t.strictSame(contentOf(dataDir), { ...before, ...unknown }, 'files that no record names stay')
  t.equal((await cycle(dataDir, after)).phase, 'Synced')
  t.strictSame(contentOf(dataDir), { ...after, ...between })
})

void t.test('a lost manifest is a finding that names the files that may be managed', async (t) => {
  const dataDir = temporaryFolder(t, 'suspect')
  await cycle(dataDir, before)
  rmSync(engineFile(dataDir, 'manifest'))
  const result = await cycle(dataDir, after)
  t.equal(result.phase, 'Synced')
  const [finding] = result.findings ?? []
  t.equal(finding?.rule, 'ownership-lost')
  t.match(finding?.message, /the manifest is missing; 4 files .*projects\/gone\/x, projects\/q\/f0, projects\/q\/f1/)
  t.equal((await cycle(dataDir, after)).findings?.[0]?.rule, 'ownership-lost', 'for as long as the commit stands')
  const fresh = temporaryFolder(t, 'suspect')
  mkdirSync(path.join(fresh, 'projects'))
  writeFileSync(path.join(fresh, 'projects/theirs'), 'x')
  t.equal((await cycle(fresh, after)).findings, undefined, 'a first sync has lost nothing')
})

void t.test('changed permissions of a managed file are drift, and are restored with drift: Restore', async (t) => {
  const dataDir = temporaryFolder(t, 'suspect')
  const restoring = { ...profile, drift: 'Restore' as const }
  t.equal((await cycle(dataDir, before)).phase, 'Synced')
  const file = path.join(dataDir, 'projects/same')
  const { mode } = statSync(file)
  for (const changed of [0o600, 0o755, 0o444]) {
    chmodSync(file, changed)
    matchObject(t, await cycle(dataDir, before), { phase: 'Drifted', drift: { paths: ['projects/same'] } }, changed.toString(8))
    matchObject(t, await cycle(dataDir, before), { phase: 'Drifted', drift: { paths: ['projects/same'] } }, 'for as long as it lasts')
    matchObject(t, await cycle(dataDir, before, restoring), { phase: 'Synced', files: { changed: 1 } })
    t.equal(statSync(file).mode, mode)
  }
})
