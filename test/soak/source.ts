/**
 * Moves two hundred refs of four private repositories while git is killed, mirrors are damaged and left locked, the controller's source
 * part is killed, and the git host stops and restarts. In the end every GatewaySync must have published the commit of its ref, no git
 * process may be left, and disk, descriptors and memory must be as flat as before.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { systemClock } from '../../runtime/platform/clock.ts'
import { sizeOfFolder } from '../../runtime/git/disk/mirror-folder.ts'
import { makeAuthority } from '../support/authority.ts'
import { type GitHost, type GitHostOptions, startGitHost } from '../support/git-host.ts'
import { imageEnvironment, imageFlags } from '../support/image-flags.ts'
import { bundlePrograms } from '../support/measured-process.ts'
import type { SoakedSource, SourceLine } from '../support/programs/soak-source.ts'
import { type Repository, temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'

const repositories = 4
const refsOfEach = 50
const pushEveryMs = 400
const faultEveryMs = 3_000
const hostAwayMs = 2_000
/** A failed source resolution is retried after half a minute, and after five minutes at most. */
const settleMs = 330_000
/** The permitted growth of the second half over the first. */
const bounds = { descriptors: 8, memory: 1.3, mirrorMiB: 8 }

type Sample = { mirrorMiB: number; descriptors: number; rssMiB: number }

export async function run({ minutes }: { minutes: number }): Promise<string[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const folder = temporaryFolder(t, 'soak-source')
    const host = await startMortalHost(folder)
    teardowns.push(async () => await host.stop())
    const subject = await startSubject(folder, host)
    teardowns.push(async () => await subject.kill())
    return await soak(subject, host, minutes)
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

type MortalHost = {
  caBundle: string
  token: string
  repositories: Repository[]
  url(name: string): string
  /** Closes every connection, and accepts none for a while. */
  die(): Promise<void>
  stop(): Promise<void>
}

async function startMortalHost(folder: string): Promise<MortalHost> {
  const authority = await makeAuthority(folder, 'Soak CA')
  const token = 'token-of-the-soak'
  const options: GitHostOptions = {
    tls: { key: authority.server.key, cert: authority.server.certificate },
    before({ headers }, response) {
      if (headers.authorization === `Basic ${Buffer.from(`soak:${token}`).toString('base64')}`) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return true
    },
  }
  const start = async (port: number): Promise<GitHost> => await startGitHost(path.join(folder, 'git'), { ...options, port })
  let host = await start(0)
  const { port } = host
  return {
    caBundle: authority.certificate,
    token,
    repositories: Array.from({ length: repositories }, (_, index) => host.repository(`plant${index}.git`)),
    url: (name) => host.url(name),
    async die() {
      await host.stop()
      await systemClock.wait(hostAwayMs)
      host = await start(port)
    },
    stop: async () => await host.stop(),
  }
}

type Subject = {
  mirrors: string
  /** The published commit of each GatewaySync, as reported by the running process. */
  published: Map<number, string>
  /** The commit that each must publish in the end. */
  desired: Map<number, string>
  reasons: Set<string>
  last(): SourceLine | undefined
  push(index: number, number: number, isTold: boolean): void
  /** The git processes that it has started. */
  gits(): number[]
  kill(): Promise<void>
  start(): void
}

async function startSubject(folder: string, host: MortalHost): Promise<Subject> {
  const [program = ''] = await bundlePrograms([path.join(import.meta.dirname, '../support/programs/soak-source.ts')], folder)
  const mirrors = path.join(folder, 'mirrors')
  const all = Array.from({ length: repositories * refsOfEach }, (_, index) => ({ of: index % repositories, ref: `line-${index}` }))
  const refs = all.map(({ of, ref }) => ({ repo: host.url(`plant${of}.git/.git`), ref }))
  const soaked: SoakedSource = { folder: mirrors, refs, token: host.token, caBundle: host.caBundle }
  const [published, desired, reasons] = [new Map<number, string>(), new Map<number, string>(), new Set<string>()]
  let child: ChildProcess | undefined
  let last: SourceLine | undefined
  const take = (text: string): void => {
    last = JSON.parse(text) as SourceLine
    for (const [index, commit] of Object.entries(last.published)) published.set(Number(index), commit)
    for (const reason of last.reasons) reasons.add(reason)
  }
  const subject: Subject = {
    mirrors,
    published,
    desired,
    reasons,
    last: () => last,
    push(index, number, isTold) {
      const { of, ref } = all[index] ?? { of: 0, ref: '' }
      const repository = host.repositories[of]
      const commit = repository?.commit({ [`projects/${ref}.txt`]: `${number}\n${'x'.repeat(number % 2_000)}\n` }) ?? ''
      repository?.git('branch', '-f', ref, commit)
      desired.set(index, commit)
      if (isTold) child?.stdin?.write(`${index}\n`)
    },
    gits: () => (child?.pid === undefined ? [] : childrenOf(child.pid)),
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const orphans = subject.gits()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      // As with the container of the controller.
      for (const pid of orphans) killGit(pid)
      published.clear()
    },
    start() {
      const env = { ...imageEnvironment('controller'), PATH: process.env['PATH'] ?? '' }
      const args = [...imageFlags('controller'), program, JSON.stringify(soaked)]
      child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
      child.stdin?.on('error', () => undefined)
      if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', take)
    },
  }
  return subject
}

async function soak(subject: Subject, host: MortalHost, minutes: number): Promise<string[]> {
  const counts: Record<string, number> = {}
  const samples: Sample[] = []
  for (const index of Array.from({ length: repositories * refsOfEach }).keys()) subject.push(index, index, false)
  subject.start()
  const isSettled = (): true | undefined =>
    [...subject.desired].every(([index, commit]) => subject.published.get(index) === commit) ? true : undefined
  await until(isSettled, 'every ref is published once', settleMs)
  const endMs = systemClock.monotonicMs() + minutes * 60_000
  let nextFaultMs = systemClock.monotonicMs() + faultEveryMs
  let pushes = 0
  while (systemClock.monotonicMs() < endMs) {
    const startedMs = systemClock.monotonicMs()
    pushes += 1
    // One push in eight is not announced, and a poll has to find it.
    subject.push(Math.floor(Math.random() * repositories * refsOfEach), pushes, pushes % 8 !== 0)
    if (startedMs > nextFaultMs) {
      const fault = await meddle(subject, host)
      counts[fault] = (counts[fault] ?? 0) + 1
      nextFaultMs = systemClock.monotonicMs() + faultEveryMs
      samples.push(sampleOf(subject))
    }
    await systemClock.wait(Math.max(0, pushEveryMs - (systemClock.monotonicMs() - startedMs)))
  }
  const endedMs = systemClock.monotonicMs()
  const isLate = await until(isSettled, 'every ref is published', settleMs).then(
    () => false,
    () => true,
  )
  const tookS = Math.round((systemClock.monotonicMs() - endedMs) / 1000)
  samples.push(sampleOf(subject))
  const faults = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(`${pushes} pushes to ${subject.desired.size} refs; ${faults.join(', ')}; settled after ${tookS} s\n`)
  process.stdout.write(`told meanwhile: ${[...subject.reasons].toSorted().join(', ') || 'nothing'}\n`)
  const behind = [...subject.desired].filter(([index, commit]) => subject.published.get(index) !== commit).map(([index]) => index)
  const left = isLate ? [] : await gitsLeft(subject)
  return [
    ...(behind.length > 0 ? [`${behind.length} refs are not at their commit: ${behind.slice(0, 10).join(', ')}`] : []),
    ...(left.length > 0 ? [`${left.length} processes of git are left`] : []),
    ...notFlat(samples),
  ]
}

/** Polls continue, so git runs now and then; a process that is always present hangs. */
async function gitsLeft(subject: Subject): Promise<number[]> {
  let left = subject.gits()
  for (let poll = 0; poll < 40 && left.length > 0; poll += 1) {
    await systemClock.wait(500)
    const now = new Set(subject.gits())
    left = left.filter((pid) => now.has(pid))
  }
  return left
}

async function meddle(subject: Subject, host: MortalHost): Promise<string> {
  const kinds = ['git killed', 'git killed', 'git killed', 'mirror damaged', 'mirror locked', 'follower killed', 'host died']
  const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? ''
  if (kind === 'git killed') {
    const [pid] = await until(() => (subject.gits().length > 0 ? subject.gits() : undefined), 'git runs')
    if (pid !== undefined) killGit(pid)
  } else if (kind === 'host died') await host.die()
  else if (kind === 'follower killed') {
    await subject.kill()
    subject.start()
  } else damage(subject.mirrors, kind === 'mirror locked')
  return kind
}

function killGit(pid: number): void {
  try {
    // Each git call leads its own process group, with its helpers.
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has exited meanwhile.
  }
}

/** The running child processes of this process. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((name) => {
      try {
        const [state = '', parentPid = ''] = readFileSync(`/proc/${name}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ')
        return Number(parentPid) === parent && state !== 'Z'
      } catch {
        return false
      }
    })
    .map(Number)
}

/** A file after a power cut, or a stale lock. */
function damage(mirrors: string, isLock: boolean): void {
  const pick = <Value>(values: readonly Value[]): Value | undefined => values[Math.floor(Math.random() * values.length)]
  const mirror = path.join(mirrors, pick(readdirSync(mirrors)) ?? '')
  if (isLock) {
    const name = pick(['shallow.lock', 'packed-refs.lock', 'config.lock', 'HEAD.lock', 'refs/w/incoming.lock']) ?? ''
    if (existsSync(path.join(mirror, path.dirname(name)))) writeFileSync(path.join(mirror, name), '')
    return
  }
  const files = readdirSync(mirror, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?:shallow|packed-refs|HEAD|config|refs\/.*|objects\/pack\/.*\.(?:pack|idx))$/.test(name))
    .map((name) => path.join(mirror, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
  const file = pick(files)
  if (file === undefined) return
  const { size, mode } = statSync(file)
  if ((mode & 0o200) === 0 || Math.random() < 0.5) truncateSync(file, Math.floor(Math.random() * size))
  else writeFileSync(file, 'x'.repeat(Math.min(size, 4096)))
}

function sampleOf(subject: Subject): Sample {
  const { descriptors = 0, rssMiB = 0 } = subject.last() ?? {}
  return { mirrorMiB: sizeOfFolder(subject.mirrors) / 1024 / 1024, descriptors, rssMiB }
}

function notFlat(samples: readonly Sample[]): string[] {
  const half = Math.ceil(samples.length / 2)
  const [before, after] = [samples.slice(0, half), samples.slice(half)]
  const most = (of: readonly Sample[], name: keyof Sample): number => Math.round(Math.max(0, ...of.map((sample) => sample[name])) * 10) / 10
  // While git runs, its pipes and credentials are open.
  const least = (of: readonly Sample[]): number => Math.min(...of.map(({ descriptors }) => descriptors))
  for (const [name, part] of [
    ['first half', before],
    ['second half', after],
  ] as const)
    process.stdout.write(
      `${name}: mirrors at most ${most(part, 'mirrorMiB')} MiB, descriptors ${least(part)} to ${most(part, 'descriptors')}, ${most(part, 'rssMiB')} MiB resident at most\n`,
    )
  return [
    ...(most(after, 'mirrorMiB') > most(before, 'mirrorMiB') + bounds.mirrorMiB
      ? ['the mirrors grew from the first half to the second']
      : []),
    ...(least(after) > least(before) + bounds.descriptors ? ['descriptors grew from the first half to the second'] : []),
    ...(most(after, 'rssMiB') > most(before, 'rssMiB') * bounds.memory ? ['memory grew from the first half to the second'] : []),
  ]
}
