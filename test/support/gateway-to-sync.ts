/**
 * A simulated gateway and an engine that syncs it from in-memory commits, without a cluster.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { startSimulator, type SimulatorOptions } from '../../examples/simulator/simulator.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { connectGateway } from '../../runtime/gateway/gateway.ts'
import type { ResolvedProfile } from '../../runtime/api/schema/profile.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleDeps, type CycleResult, type EngineMemory, runCycle, type SyncTarget } from '../../runtime/sync/cycle.ts'
import { memorySource, profileOf, type Tree, desiredOf } from './memory-source.ts'
import { temporaryFolder } from './repository.ts'

const signal = AbortSignal.timeout(120_000)
export const apiKey = 'gw:hush'
/** A profile with a mapping for each scan. */
export const both = profileOf([
  { source: 'projects', destination: 'projects' },
  { source: 'config', destination: 'config' },
])
export const project = JSON.stringify({ title: 'Line', enabled: true })
/** The first commit. */
export const base: Tree = { 'projects/line/project.json': project, 'config/a': '1' }

/**
 * `sync` brings the gateway to a tree, as one commit. `keyFile` holds the API key and is read on each use; `asked`: the IDs of requested
 * contents.
 */
export async function gatewayToSync(t: Pick<Test, 'teardown'>, options: Partial<SimulatorOptions> = {}) {
  const folder = temporaryFolder(t, 'gateway')
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const keyFile = path.join(folder, 'key')
  writeFileSync(keyFile, `${apiKey}\n`)
  const simulator = await startSimulator({ dataDir, name: 'gw', apiKey, ...options })
  t.teardown(async () => simulator.stop())
  const readKey = async (): Promise<string> => readFileSync(keyFile, 'utf8').trim()
  const gateway = connectGateway({ url: simulator.url, apiKey: readKey, clock: systemClock, log: silentLog })
  const source = memorySource()
  const asked: string[] = []
  const counting: typeof source = {
    ...source,
    blobs: async (request, sink, own) => {
      asked.push(...request.ids)
      await source.blobs(request, sink, own)
    },
    files: async (request, sink, own) => {
      const begin: typeof sink.begin = (file) => {
        asked.push(file.id)
        sink.begin(file)
      }
      await source.files(request, { begin, data: (chunk) => sink.data(chunk), end: () => sink.end() }, own)
    },
  }
  const memory: EngineMemory = { manifest: undefined }
  const sync = async (
    tree: Tree,
    profile: ResolvedProfile = both,
    { desired = {}, deps = {} }: { desired?: Partial<SyncTarget>; deps?: Partial<CycleDeps> } = {},
  ): Promise<CycleResult> =>
    await runCycle(
      { source: counting, gateway, clock: systemClock, log: silentLog, memory, ...deps },
      desiredOf(dataDir, source.commit(tree), profile, desired),
      signal,
    )
  /** The calls to the gateway since the last call of this function, without reads. */
  const posts = (): string[] =>
    simulator.requests
      .splice(0)
      .filter(({ method }) => method === 'POST')
      .map(({ path: called, status }) => `${called.replace('/data/api/v1/', '')} ${status}`)
  const read = (file: string): string => readFileSync(path.join(dataDir, file), 'utf8')
  const write = (file: string, content: string): void => {
    mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
    writeFileSync(path.join(dataDir, file), content)
  }
  return { dataDir, keyFile, simulator, gateway, source: counting, sync, posts, read, write, asked, memory }
}
