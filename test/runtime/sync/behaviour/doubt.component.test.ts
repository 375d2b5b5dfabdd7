/**
 * Never well by ignorance: records of ours that are missing, cut or flipped, and a publish that lost its staging, end at exactly the wanted
 * commit, or in a finding that names what nobody can tell. Nothing is called synced that was not verified.
 */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import type { Source } from '../../../../runtime/delivery/protocol.ts'
import { Fault } from '../../../../runtime/fault.ts'
import type { ResolvedProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import { silentLog } from '../../../../runtime/log.ts'
import { type CycleResult, readSynced, recoverFolder, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { bundlePrograms } from '../../../support/measured-process.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../../support/memory-source.ts'
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
  const result = await runCycle(deps, wantedOf(dataDir, source.commit(tree), as, { paused: as.paused }), AbortSignal.timeout(60_000))
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

/** What may become of our records between the death of a process and the next start. */
const losses: [string, (dataDir: string) => void][] = [
  ['the folder with what was staged', (dataDir) => rmSync(runFolder(dataDir), { recursive: true, force: true })],
  [
    'half of what was staged',
    (dataDir) => {
      for (const name of readdirSync(runFolder(dataDir)).filter((_, index) => index % 2 === 0))
        rmSync(path.join(runFolder(dataDir), name), { recursive: true })
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
  'killed in mid-publish and robbed of a record, the folder ends at exactly the wanted commit',
  { timeout: 300_000 },
  async (t) => {
    if (!requires(t, 'env')) return
    const folder = temporaryFolder(t, 'doubt')
    const killed = await kills(folder)
    t.ok(killed.length > 8, `${killed.length} places within a publish`)
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
          t.same(contentOf(dataDir), tree, name)
        }
      }
    }
  },
)

function isExactly(dataDir: string, commit: string): boolean {
  const tree = commit === commits.before ? before : after
  return isDeepStrictEqual(contentOf(dataDir), tree)
}

void t.test('an interrupted publish is ended before anything waits: no git host, a pause, a dry run', { timeout: 200_000 }, async (t) => {
  if (!requires(t, 'env')) return
  const folder = temporaryFolder(t, 'doubt')
  const killed = await kills(folder)
  const dataDir = path.join(folder, 'tried')
  /** The next one that was killed; no copy, for by its inode a file is known as the one that was staged. */
  const restore = (): void => {
    rmSync(dataDir, { recursive: true, force: true })
    renameSync(killed.shift() ?? '', dataDir)
    t.equal(readSynced(dataDir), undefined, 'nothing is in place while it is interrupted')
  }
  const expectEnded = (how: string): void => {
    t.same(contentOf(dataDir), after, how)
    t.equal(readSynced(dataDir)?.commit, commits.after, how)
  }
  restore()
  t.match(await cycle(dataDir, before, profile, away), { phase: 'Failed', reason: 'GitUnreachable', commit: commits.after })
  expectEnded('git host away')
  restore()
  t.match(await cycle(dataDir, before, { ...profile, paused: true }), { phase: 'Paused', commit: commits.after })
  expectEnded('paused')
  restore()
  t.match(await cycle(dataDir, before, { ...profile, dryRun: true }), { phase: 'DryRun', commit: commits.after })
  expectEnded('dry run')
  restore()
  const deps = { clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  t.match(await recoverFolder(deps, dataDir, AbortSignal.timeout(60_000)), { commit: commits.after })
  releaseLock(dataDir)
  expectEnded('at the start of a process')
})

void t.test('one flipped bit or a cut anywhere in the manifest is found, and ends exact', { timeout: 300_000 }, async (t) => {
  const folder = temporaryFolder(t, 'doubt')
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
    // A local change beside it: what is not verified would be called synced.
    const file = path.join(dataDir, 'projects/q/f0')
    writeFileSync(file, 'L')
    const result = await cycle(dataDir, before)
    t.equal(result.phase, 'Synced', `${result.message}`)
    t.same(contentOf(dataDir), before, `at ${at}`)
    t.equal((await cycle(dataDir, after)).phase, 'Synced')
    t.same(contentOf(dataDir), after, `ownership is whole again, at ${at}`)
  }
})

void t.test('a lost manifest says which files may have been ours', async (t) => {
  const dataDir = temporaryFolder(t, 'doubt')
  await cycle(dataDir, before)
  rmSync(engineFile(dataDir, 'manifest'))
  const result = await cycle(dataDir, after)
  t.equal(result.phase, 'Synced')
  t.match(result.findings, [
    { rule: 'ownership-lost', message: /the manifest is missing; 4 files .*projects\/gone\/x, projects\/q\/f0, projects\/q\/f1/ },
  ])
  t.match((await cycle(dataDir, after)).findings, [{ rule: 'ownership-lost' }], 'for as long as the commit stands')
  const fresh = temporaryFolder(t, 'doubt')
  mkdirSync(path.join(fresh, 'projects'))
  writeFileSync(path.join(fresh, 'projects/theirs'), 'x')
  t.equal((await cycle(fresh, after)).findings, undefined, 'a first sync has lost nothing')
})

void t.test('changed permissions of a file of ours are drift, and are restored where that is asked for', async (t) => {
  const dataDir = temporaryFolder(t, 'doubt')
  const restoring = { ...profile, drift: 'restore' as const }
  t.equal((await cycle(dataDir, before)).phase, 'Synced')
  const file = path.join(dataDir, 'projects/same')
  const { mode } = statSync(file)
  for (const changed of [0o600, 0o755, 0o444]) {
    chmodSync(file, changed)
    t.match(await cycle(dataDir, before), { phase: 'Drifted', drift: { paths: ['projects/same'] } }, changed.toString(8))
    t.match(await cycle(dataDir, before), { phase: 'Drifted', drift: { paths: ['projects/same'] } }, 'for as long as it lasts')
    t.match(await cycle(dataDir, before, restoring), { phase: 'Synced', files: { changed: 1 } })
    t.equal(statSync(file).mode, mode)
  }
})
