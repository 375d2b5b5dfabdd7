/**
 * The engine with the content protocol, without cluster and gateway: git host over HTTP, mirror and content server in one process, client
 * and engine in another, bundled and started as in their images. 100 files, and 2,000 or `--size`: a first sync compared with `git clone
 * --depth=1` of the same commit from the same host (alternating, medians), one changed file, a commit without relevant changes, the drift
 * check, and the memory of the agent's part. Prints progress to stderr, because 20,000 files take minutes.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { type GitHost, startGitHost } from '../support/git-host.ts'
import { imageEnvironment, imageFlags } from '../support/image-flags.ts'
import { bundlePrograms, memoryOf, peakWhile, type Process, startProcess } from '../support/measured-process.ts'
import { type MemoryCgroup, memoryCgroup } from '../support/memory-cgroup.ts'
import { profileOf } from '../support/memory-source.ts'
import type { DeliverAnswer, DeliverMessage } from '../support/programs/deliver.ts'
import type { EngineAnswer, EngineMessage } from '../support/programs/engine.ts'
import { gitEnvironment, type Repository, temporaryFolder } from '../support/repository.ts'
import { plantFiles } from './contents.ts'
import { type Figure, median } from './figures.ts'

const few = 100
/** Number of later syncs of each kind, per round of first syncs. */
const changesPerRound = 4
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
/** Time budget for a first sync of 20,000 files. */
const containerMiB = 128
/** Node flags of the images. */
const flags = { deliver: imageFlags('controller'), engine: imageFlags('agent') }

type Bench = { folder: string; host: GitHost; deliver: Process; engineProgram: string }

export async function run({ rounds = 5, size = 2_000 }: { rounds?: number; size?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const folder = temporaryFolder(t, 'bench-sync')
    const host = await startGitHost(path.join(folder, 'git'))
    teardowns.push(() => host.stop())
    const programs = ['deliver.ts', 'engine.ts'].map((name) => path.join(import.meta.dirname, '../support/programs', name))
    const [deliverProgram = '', engineProgram = ''] = await bundlePrograms(programs, folder)
    const deliver = await startProcess(
      deliverProgram,
      [path.join(folder, 'mirrors'), 'projects'],
      flags.deliver,
      undefined,
      imageEnvironment('controller'),
    )
    teardowns.push(() => deliver.stop())
    const figures: Figure[] = []
    const changes: number[] = []
    for (const files of [few, size]) {
      const measured = await measure({ folder, host, deliver, engineProgram }, files, rounds)
      figures.push(...measured.figures)
      changes.push(measured.changeMs)
    }
    figures.push({ name: `one changed file, ${size} files beside ${few}`, value: (changes[1] ?? 0) / (changes[0] ?? 1), unit: 'x' })
    return figures
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

/** `within`: its memory limit. */
async function startEngine({ engineProgram }: Bench, within?: MemoryCgroup): Promise<Process> {
  return await startProcess(engineProgram, [], flags.engine, within, imageEnvironment('agent'))
}

async function measure(bench: Bench, files: number, rounds: number) {
  progress(files, 'makes the repository')
  const repository = bench.host.repository(`${files}.git`)
  const head = repository.commit(plantFiles({ files, folders: files / 2 }))
  // Packed, as on a git host.
  repository.git('gc', '-q')
  const engine = await startEngine(bench)
  try {
    progress(files, `${rounds} first syncs and clones`)
    const { firsts, clones, last } = await firstSyncs(bench, engine, files, head, rounds)
    progress(files, `${rounds * changesPerRound} later syncs of each kind`)
    const { change, nothing, drift } = await laterSyncs(last, repository, rounds * changesPerRound)
    progress(files, 'memory')
    const memory = await agentMemory(bench, files, repository)
    const containedMs = await inSmallContainer(bench, files, repository)
    const figure = (what: string, value: number, unit: string): Figure => ({ name: `${files} files: ${what}`, value, unit })
    const firstMs = median(firsts.map(({ ms }) => ms))
    const cloneMs = median(clones)
    const changeMs = median(change.map(({ ms }) => ms))
    return {
      changeMs,
      figures: [
        figure('first sync', firstMs, 'ms'),
        figure('git clone --depth=1', cloneMs, 'ms'),
        figure('first sync relative to git clone', firstMs / cloneMs, 'x'),
        figure('first sync, in the agent alone', median(firsts.map(({ engineMs }) => engineMs)), 'ms'),
        figure('one changed file', changeMs, 'ms'),
        figure('one changed file, CPU of both processes', mean(change.map(({ cpuMs }) => cpuMs)), 'ms'),
        figure('a commit that changes nothing here', median(nothing.map(({ ms }) => ms)), 'ms'),
        figure('drift pass', median(drift.map(({ ms }) => ms)), 'ms'),
        figure('drift pass, CPU', mean(drift.map(({ cpuMs }) => cpuMs)), 'ms'),
        ...(containedMs === undefined ? [] : [figure(`first sync to disk within ${containerMiB} MiB`, containedMs, 'ms')]),
        ...memory.map(([what, value]) => figure(`agent's part, ${what}`, value, 'MiB')),
      ],
    }
  } finally {
    await engine.stop()
  }
}

function progress(files: number, what: string): void {
  process.stderr.write(`${files} files: ${what}\n`)
}

/** A data directory that syncs through the content server, and the mirrors of that server. */
type Place = { deliver: Process; engine: Process; repo: string; mirrors: string; dataDir: string }

/** An empty folder, and a content server that has fetched nothing yet. */
function newPlace({ folder, host, deliver }: Bench, engine: Process, files: number, name: string): Place {
  const dataDir = path.join(folder, `data-${files}-${name}`)
  mkdirSync(dataDir)
  return { deliver, engine, repo: host.url(`${files}.git/.git`), mirrors: `${files}-${name}`, dataDir }
}

type Measured = { ms: number; engineMs: number; cpuMs: number }

/** Moves `main` to the commit and syncs the folder; throws if the number of written files differs from the expected one. */
async function sync(place: Place, commit: string, written: number, fetch = true): Promise<Measured> {
  const { deliver, engine, repo, mirrors, dataDir } = place
  const ask: DeliverMessage = { repo, mirrors, ...(fetch ? { fetch: commit } : {}) }
  const before = [await deliver.ask<DeliverAnswer>({}), await engine.ask<EngineAnswer>({})]
  const startedMs = performance.now()
  const { url, caBundle } = await deliver.ask<DeliverAnswer>(ask)
  const message: EngineMessage = { url, caBundle, commit, dataDir, profile }
  const answer = await engine.ask<EngineAnswer>(message)
  const ms = performance.now() - startedMs
  if (answer.phase !== 'Synced' || answer.written !== written)
    throw new Error(`${answer.phase}, ${answer.written} files written and not ${written}: ${answer.message}`)
  const cpu = (answers: readonly { cpuMs: number }[]): number => answers.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  return { ms, engineMs: answer.tookMs, cpuMs: cpu([await deliver.ask<DeliverAnswer>({}), answer]) - cpu(before) }
}

/** The first round is a warm-up and does not count; after it the order alternates. */
async function firstSyncs(bench: Bench, engine: Process, files: number, head: string, rounds: number) {
  const firsts: Measured[] = []
  const clones: number[] = []
  let place = newPlace(bench, engine, files, 'warm')
  for (let round = 0; round <= rounds; round += 1) {
    if (round % 2 === 1) clones.push(await clone(bench, files))
    if (round > 0) {
      rmSync(place.dataDir, { recursive: true, force: true })
      place = newPlace(bench, engine, files, String(round))
    }
    firsts.push(await sync(place, head, files))
    if (round % 2 === 0) clones.push(await clone(bench, files))
  }
  return { firsts: firsts.slice(1), clones: clones.slice(1), last: place }
}

async function laterSyncs(place: Place, repository: Repository, rounds: number) {
  const change: Measured[] = []
  const nothing: Measured[] = []
  const drift: Measured[] = []
  for (let round = 0; round < rounds; round += 1) {
    change.push(await sync(place, repository.commit({ 'projects/f0/0.json': `round ${round}\n` }), 1))
    const head = repository.commit({ 'README.md': `round ${round}\n` })
    nothing.push(await sync(place, head, 0))
    drift.push(await sync(place, head, 0, false))
  }
  return { change, nothing, drift }
}

/** In a fresh process: memory after start, at the peak of a first sync, and in later syncs of one file. */
async function agentMemory(bench: Bench, files: number, repository: Repository): Promise<(readonly [string, number])[]> {
  const engine = await startEngine(bench)
  try {
    const place = newPlace(bench, engine, files, 'memory')
    const head = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
    const atStart = memoryOf(engine.pid)
    const first = await peakWhile(engine.pid, () => sync(place, head, files))
    const later = await peakWhile(engine.pid, async () => {
      for (let round = 0; round < 5; round += 1) await sync(place, repository.commit({ 'projects/f0/0.json': `again ${round}\n` }), 1)
    })
    return [
      ['anonymous, started', atStart.anonymousMiB],
      ['anonymous, peak of a first sync', first.peak.anonymousMiB],
      ['anonymous, peak of one changed file', later.peak.anonymousMiB],
      ['resident, peak of a first sync', first.peak.residentMiB],
    ]
  } finally {
    await engine.stop()
  }
}

/**
 * Whether the agent's part stays within the memory of a small container, including written files that are not on disk yet; undefined if no
 * such limit is available. Not on tmpfs, where files would count for the whole run.
 */
async function inSmallContainer(bench: Bench, files: number, repository: Repository): Promise<number | undefined> {
  const within = memoryCgroup(containerMiB)
  if (within === undefined) return undefined
  const parent = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-bench-'))
  const engine = await startEngine(bench, within)
  try {
    const place = { ...newPlace(bench, engine, files, 'container'), dataDir: parent }
    const head = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
    return (await sync(place, head, files)).ms
  } finally {
    await engine.stop()
    await within.remove()
    rmSync(parent, { recursive: true, force: true })
  }
}

async function clone({ folder, host }: Bench, files: number): Promise<number> {
  const target = path.join(folder, `clone-${files}`)
  const startedMs = performance.now()
  await promisify(execFile)('git', ['clone', '-q', '--depth=1', host.url(`${files}.git/.git`), target], { env: gitEnvironment })
  const tookMs = performance.now() - startedMs
  rmSync(target, { recursive: true, force: true })
  return tookMs
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
