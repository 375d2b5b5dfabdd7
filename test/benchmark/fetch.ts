/**
 * Load on a git host: the time to check whether a ref has moved, for hosts with few and with many tags, and the connections that a hundred
 * GatewaySyncs of one repository make for one push and in an idle minute: one per polling interval. Times are medians of the rounds. Also
 * the memory that large packs take: the controller's mirrors and git within the container's limit, with one fetch and with two concurrent
 * fetches.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { makeAuthority } from '../support/authority.ts'
import { containerMiB, controllerMiB, openContainer } from '../support/contained-fetch.ts'
import { startFollowers } from '../support/followers.ts'
import { startGitHost } from '../support/git-host.ts'
import { commitRandom, commitSimilar, mebibyte, packs } from '../support/large-packs.ts'
import type { Figure } from './figures.ts'

const signal = AbortSignal.timeout(580_000)
const followers = 100

export async function run({ rounds = 9 }: { rounds?: number }): Promise<Figure[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-fetch-'))
  try {
    const figures: Figure[] = []
    for (const tags of [10, 20_000]) figures.push(...(await probe(path.join(folder, String(tags)), tags, rounds)))
    figures.push(...(await manyFollowers(path.join(folder, 'many'))))
    figures.push(...(await largePacks(path.join(folder, 'large'))))
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function probe(folder: string, tags: number, rounds: number): Promise<Figure[]> {
  const packetTrace = path.join(folder, 'packets')
  const host = await startGitHost(path.join(folder, 'git'), { packetTrace })
  const repository = host.repository('plant')
  const commit = repository.commit({ a: '1' })
  const refs = Array.from({ length: tags }, (_, index) => `${commit} refs/tags/v${index}\n`).toSorted()
  writeFileSync(path.join(repository.folder, '.git/packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${refs.join('')}`)
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  try {
    const mirror = mirrors.of(anonymousRemote(host.url('plant/.git'), { allowLocal: false }))
    // The first resolution of a branch also checks once for a tag of that name.
    for (const fresh of [true, false, false]) await mirror.resolve('main', { fresh }, signal)
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const startedMs = systemClock.monotonicMs()
      await mirror.resolve('main', { fresh: false }, signal)
      times.push(systemClock.monotonicMs() - startedMs)
    }
    rmSync(packetTrace, { force: true })
    const bytesBefore = host.bytesSent()
    await mirror.resolve('main', { fresh: false }, signal)
    const lines = readFileSync(packetTrace, 'utf8').split('\n')
    return [
      { name: `probe without a change, ${tags} tags: time`, value: times.toSorted((a, b) => a - b)[rounds >> 1] ?? 0, unit: 'ms' },
      {
        name: `probe, ${tags} tags: packet lines of the host`,
        value: lines.filter((line) => / upload-pack> /.test(line)).length,
        unit: '',
      },
      { name: `probe, ${tags} tags: bytes of the host`, value: host.bytesSent() - bytesBefore, unit: 'B' },
    ]
  } finally {
    await mirrors.close()
    await host.stop()
  }
}

async function manyFollowers(folder: string): Promise<Figure[]> {
  const host = await startGitHost(path.join(folder, 'git'))
  const repository = host.repository('plant')
  repository.commit({ 'projects/a.txt': '1' })
  const spec = {
    git: { repo: host.url('plant/.git'), ref: 'main' },
    polling: { interval: '60s' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  const all = startFollowers({ folder: path.join(folder, 'mirrors'), spec: () => spec, count: followers })
  try {
    await all.allHave(repository.git('rev-parse', 'main').toString().trim(), signal)
    const connections = async (work: () => Promise<void>): Promise<number> => {
      const before = host.fetches()
      await work()
      return host.fetches() - before
    }
    const push = await connections(async () => {
      const commit = repository.commit({ 'projects/a.txt': '2' })
      all.request(0)
      await all.allHave(commit, signal)
    })
    const idle = await connections(() => systemClock.wait(60_000, signal))
    return [
      { name: `${followers} GatewaySyncs, one push: fetches at the host`, value: push, unit: '' },
      { name: `${followers} GatewaySyncs, an idle minute: fetches at the host`, value: idle, unit: '' },
    ]
  } finally {
    await all.stop()
    await host.stop()
  }
}

/** Fetches concurrently, on top of the memory that the controller holds. */
const together = [
  ['few large files'],
  ['many small files'],
  ['one file'],
  ['two similar texts of 20 MB'],
  ['few large files', 'many small files'],
  ['one file', 'many small files'],
  ['two similar texts of 20 MB', 'many small files'],
]

async function largePacks(folder: string): Promise<Figure[]> {
  const container = await openContainer(folder)
  if (container === undefined) return [{ name: 'memory limit, which could not be set here', value: containerMiB, unit: 'MiB' }]
  const authority = await makeAuthority(folder, 'Plant CA')
  const host = await startGitHost(path.join(folder, 'git'), { tls: { key: authority.server.key, cert: authority.server.certificate } })
  try {
    const commits = new Map<string, string>()
    for (const [name, pack] of Object.entries(packs)) commits.set(name, await commitRandom(host.repository(slug(name)), pack))
    const similar = 'two similar texts of 20 MB'
    commits.set(similar, await commitSimilar(host.repository(slug(similar)), 20 * mebibyte))
    const figures: Figure[] = []
    for (const names of together) {
      const repos = names.map((name) => host.url(`${slug(name)}/.git`))
      const found = await container.fetch({ repos, caBundle: authority.certificate })
      const isRight = found.killed === 0 && names.every((name, index) => found.commits[index] === commits.get(name))
      if (!isRight) throw new Error(`${names.join(' and ')}: ${JSON.stringify(found)}`)
      const what = `100 MB, ${names.join(' and ')}`.replace('100 MB, two', 'two')
      figures.push({ name: `${what}: time`, value: found.tookMs, unit: 'ms' })
      figures.push({ name: `${what}: memory at most`, value: Math.round(found.anonymousMiB), unit: 'MiB' })
    }
    return [
      { name: 'memory limit', value: containerMiB, unit: 'MiB' },
      { name: 'of it held beside git', value: controllerMiB, unit: 'MiB' },
      ...figures,
    ]
  } finally {
    await host.stop()
  }
}

function slug(name: string): string {
  return name.replaceAll(' ', '-')
}
