/**
 * What a git host is asked: the cost of looking whether a ref has moved, at hosts with few and with many tags, and the connections that
 * a hundred GatewaySyncs of one repository make for one push and in an idle minute: one for each interval of polling. Time is the median
 * of the rounds.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../runtime/clock.ts'
import { silentLog } from '../../runtime/log.ts'
import { createMirrors } from '../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../runtime/source/remote.ts'
import { startFollowers } from '../support/followers.ts'
import { startGitHost } from '../support/git-host.ts'
import type { Figure } from './figures.ts'

const signal = AbortSignal.timeout(580_000)
const followers = 100

export async function run({ rounds = 9 }: { rounds?: number }): Promise<Figure[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-fetch-'))
  try {
    const figures: Figure[] = []
    for (const tags of [10, 20_000]) figures.push(...(await probe(path.join(folder, String(tags)), tags, rounds)))
    figures.push(...(await manyFollowers(path.join(folder, 'many'))))
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
    // The first question about a branch also looks for a tag of its name, once.
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
  const all = startFollowers({ folder: path.join(folder, 'mirrors'), spec, count: followers })
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
