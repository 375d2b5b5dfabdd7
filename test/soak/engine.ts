/**
 * A push every 200 ms with faults in between: the engine killed, its records damaged, the volume full, the git host unreachable. In the end
 * the folder must equal `git archive` of the last commit, and disk, descriptors and memory must be as flat as before.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../runtime/platform/clock.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { type GitHost, startGitHost } from '../support/git-host.ts'
import { imageEnvironment, imageFlags } from '../support/image-flags.ts'
import { bundlePrograms } from '../support/measured-process.ts'
import type { SoakLine } from '../support/programs/soak-engine.ts'
import { type Changes, gitEnvironment, type Repository, temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'

const pushEveryMs = 200
const faultEveryMs = 4_000
const files = 400
const volumeMiB = 24
/** Permitted content of the engine's folder between two syncs, and the permitted size of the mirror. */
const bounds = { ownFiles: 6, ownMiB: 2, mirrorMiB: 16, descriptors: 8, memory: 1.3 }

type Sample = { ownFiles: number; ownMiB: number; mirrorMiB: number; descriptors: number; rssMiB: number }

export async function run({ minutes }: { minutes: number }): Promise<string[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const folder = temporaryFolder(t, 'soak')
    const host = await startGitHost(path.join(folder, 'git'))
    teardowns.push(async () => await host.stop())
    const volume = path.join(folder, 'volume')
    mkdirSync(volume)
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${volumeMiB}m`, 'soak', volume]).status === 0
    if (isMounted) teardowns.push(() => spawnSync('umount', ['-l', volume]))
    else process.stdout.write('no tmpfs of its own can be mounted here: the volume will not be full\n')
    const subject = await startSubject(folder, host, volume)
    teardowns.push(async () => await subject.stop())
    return await soak(subject, host, isMounted, minutes)
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

type Subject = {
  dataDir: string
  mirrors: string
  repository: Repository
  told: SoakLine[]
  push(changes: Changes): string
  kill(): Promise<void>
  start(): void
  stop(): Promise<void>
}

async function startSubject(folder: string, host: GitHost, volume: string): Promise<Subject> {
  const repository = host.repository('plant.git')
  const [program = ''] = await bundlePrograms([path.join(import.meta.dirname, '../support/programs/soak-engine.ts')], folder)
  const [dataDir, mirrors] = [path.join(volume, 'data'), path.join(folder, 'mirrors')]
  mkdirSync(dataDir)
  const told: SoakLine[] = []
  let child: ChildProcess | undefined
  let head = ''
  const tell = (): void => void child?.stdin?.write(`${head}\n`)
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    dataDir,
    mirrors,
    repository,
    told,
    push(changes) {
      head = repository.commit(changes)
      tell()
      return head
    },
    kill,
    start() {
      const env = { ...imageEnvironment('agent'), PATH: process.env['PATH'] ?? '' }
      child = spawn(process.execPath, [...imageFlags('agent'), program, host.url('plant.git/.git'), dataDir, mirrors], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env,
      })
      child.stdin?.on('error', () => undefined)
      if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line) as SoakLine))
      if (head !== '') tell()
    },
    async stop() {
      await kill()
    },
  }
}

async function soak(subject: Subject, host: GitHost, isMounted: boolean, minutes: number): Promise<string[]> {
  const endMs = systemClock.monotonicMs() + minutes * 60_000
  const counts: Record<string, number> = {}
  const samples: Sample[] = []
  let pushes = 0
  let head = subject.push(Object.fromEntries(Array.from({ length: files }, (_, index) => [fileOf(index), contentOf(index)])))
  subject.start()
  let nextFaultMs = systemClock.monotonicMs() + faultEveryMs
  while (systemClock.monotonicMs() < endMs) {
    const startedMs = systemClock.monotonicMs()
    head = subject.push(changesOf((pushes += 1)))
    if (startedMs > nextFaultMs) {
      const fault = await meddle(subject, host, isMounted)
      counts[fault] = (counts[fault] ?? 0) + 1
      nextFaultMs = systemClock.monotonicMs() + faultEveryMs
      samples.push(sampleOf(subject))
    }
    await systemClock.wait(Math.max(0, pushEveryMs - (systemClock.monotonicMs() - startedMs)))
  }
  await until(
    () => (subject.told.at(-1)?.phase === 'Synced' && subject.told.at(-1)?.commit === head ? true : undefined),
    'the last commit is in place',
    120_000,
  )
  samples.push(sampleOf(subject))
  const synced = new Set(subject.told.filter(({ phase }) => phase === 'Synced').map(({ commit }) => commit)).size
  process.stdout.write(
    `${pushes} pushes, ${synced} commits synced; ${Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}\n`,
  )
  const reasons = Object.groupBy(
    subject.told.filter(({ phase }) => phase !== 'Synced'),
    ({ phase, reason }) => `${phase} ${reason}`,
  )
  for (const [name, lines = []] of Object.entries(reasons))
    process.stdout.write(`${name}: ${lines.length}, at last: ${lines.at(-1)?.message.slice(0, 200)}\n`)
  return [...differences(subject, head), ...notFlat(samples)]
}

const fileOf = (index: number): string => `projects/p${index % 8}/d${index % 40}/f${index}.json`
const contentOf = (number: number): string => `${JSON.stringify({ number, pad: 'x'.repeat(number % 2_000) })}\n`

/** A few files change, one is added or deleted, and sometimes a folder is. */
function changesOf(push: number): Changes {
  const changes: Record<string, string | null> = {}
  for (let count = 0; count < 5; count += 1) changes[fileOf((push * 7 + count * 31) % files)] = contentOf(push + count)
  changes[`projects/p0/coming/f${push}`] = contentOf(push)
  if (push > 20) changes[`projects/p0/coming/f${push - 20}`] = null
  for (const index of [0, 1, 2]) changes[`projects/turn${push % 2}/${index}/x`] = 'x'
  if (push > 1) for (const index of [0, 1, 2]) changes[`projects/turn${(push + 1) % 2}/${index}/x`] = null
  return changes
}

async function meddle(subject: Subject, host: GitHost, isMounted: boolean): Promise<string> {
  const { dataDir } = subject
  const own = (name: string): string => path.join(dataDir, '.cluster-sync', name)
  const kinds = ['killed', 'records damaged', 'host away', ...(isMounted ? ['volume full'] : [])]
  const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? 'killed'
  if (kind === 'host away') {
    host.hang(true)
    await systemClock.wait(1_000)
    host.hang(false)
  } else if (kind === 'volume full') {
    const { bavail, bsize } = statfsSync(dataDir)
    const filler = path.join(dataDir, '..', 'filler')
    try {
      fill(filler, Math.max(0, bavail * bsize - Math.floor(Math.random() * 64 * 1024)))
      await systemClock.wait(800)
    } finally {
      rmSync(filler, { force: true })
    }
  } else {
    await systemClock.wait(Math.random() * 100)
    await subject.kill()
    if (kind === 'records damaged') damage(own)
    subject.start()
  }
  return kind
}

/** Less than requested if the engine wrote meanwhile: the volume is full then. */
function fill(file: string, bytes: number): void {
  try {
    writeFileSync(file, Buffer.alloc(bytes))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** Flips, cuts or removes one record of the engine, or deletes staged files. */
function damage(own: (name: string) => string): void {
  const name = ['manifest', 'journal', 'clean', 'lock'][Math.floor(Math.random() * 4)] ?? 'manifest'
  const file = own(name)
  const how = Math.random()
  if (how < 0.2) {
    for (const run of readdirSync(own('')).filter((each) => each.startsWith('run-'))) rmSync(own(run), { recursive: true })
  } else if (existsSync(file)) {
    const content = readFileSync(file)
    const at = Math.floor(Math.random() * content.length)
    if (how < 0.4) truncateSync(file, at)
    else if (how < 0.5 && name !== 'manifest') rmSync(file)
    else {
      content[at] = (content[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
      writeFileSync(file, content)
    }
  }
}

function sampleOf({ dataDir, mirrors, told }: Subject): Sample {
  const own = listTree(path.join(dataDir, '.cluster-sync'))
  const size = (folder: string): number =>
    listTree(folder).reduce((sum, file) => sum + (statSync(path.join(folder, file), { throwIfNoEntry: false })?.size ?? 0), 0) / 1024 / 1024
  const { descriptors = 0, rssMiB = 0 } = told.at(-1) ?? {}
  return { ownFiles: own.length, ownMiB: size(path.join(dataDir, '.cluster-sync')), mirrorMiB: size(mirrors), descriptors, rssMiB }
}

/**
 * Compares the commit in git with the folder. A file of an earlier commit that a damaged record no longer claims stays by design and is
 * named in a finding, so it is not a difference.
 */
function differences({ repository, dataDir, told }: Subject, head: string): string[] {
  const expected = path.join(dataDir, '../../expected')
  mkdirSync(expected)
  const archive = execFileSync('git', ['-C', repository.folder, 'archive', head], { env: gitEnvironment, maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', expected], { input: archive })
  const contentOf = (folder: string): Record<string, string> =>
    Object.fromEntries(
      listTree(path.join(folder, 'projects')).map((file) => {
        const full = path.join(folder, 'projects', file)
        return [file, `${statSync(full).mode & 0o100} ${readFileSync(full, 'utf8')}`]
      }),
    )
  const [desired, found] = [contentOf(expected), contentOf(dataDir)]
  if (isDeepStrictEqual(desired, found)) return []
  const missing = Object.keys(desired).filter((file) => !(file in found))
  const lost = [...new Set(told.flatMap((line) => line.lost))]
  const isTold = (file: string): boolean => lost.some((message) => message.endsWith('…') || message.includes(`projects/${file}`))
  const unwanted = Object.keys(found).filter((file) => !(file in desired))
  const more = unwanted.filter((file) => !isTold(file))
  process.stdout
    .write(`${unwanted.length - more.length} files of earlier commits stand and were named, for a damaged record no longer said whose they are
`)
  const other = Object.keys(desired).filter((file) => file in found && found[file] !== desired[file])
  if (missing.length + more.length + other.length === 0) return []
  const name = (list: readonly string[]): string => `${list.length} (${list.slice(0, 5).join(', ')})`
  return [`the folder is not the commit: missing ${name(missing)}, more ${name(more)}, other ${name(other)}`]
}

function notFlat(samples: readonly Sample[]): string[] {
  const last = samples.at(-1)
  if (last === undefined) return ['nothing was sampled']
  const show = (sample: Sample): string =>
    Object.entries(sample)
      .map(([name, value]) => `${name} ${Math.round(value * 10) / 10}`)
      .join(', ')
  const middle = samples[Math.floor(samples.length / 2)] ?? last
  process.stdout.write(`in the middle: ${show(middle)}\nat the end:    ${show(last)}\n`)
  const peak = (of: readonly Sample[]): number => Math.max(...of.map(({ rssMiB }) => rssMiB))
  const half = Math.ceil(samples.length / 2)
  return [
    ...(last.ownFiles > bounds.ownFiles ? [`${last.ownFiles} files in the engine's own folder`] : []),
    ...(last.ownMiB > bounds.ownMiB ? [`${last.ownMiB} MiB in the engine's own folder`] : []),
    ...(last.mirrorMiB > bounds.mirrorMiB ? [`${last.mirrorMiB} MiB in the mirror`] : []),
    ...(Math.abs(last.descriptors - middle.descriptors) > bounds.descriptors
      ? [`descriptors ${middle.descriptors} -> ${last.descriptors}`]
      : []),
    ...(peak(samples.slice(half)) > bounds.memory * peak(samples.slice(0, half)) ? ['memory grew from the first half to the second'] : []),
  ]
}
