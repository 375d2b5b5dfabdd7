/**
 * The agent's loop around the real engine with an in-memory source; the test plays controller, gateway and kubelet.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import type { FollowedSync, PodFacts } from '../../runtime/agent/desired.ts'
import { endInterrupted } from '../../runtime/agent/recover.ts'
import { type FollowDeps, Follower } from '../../runtime/agent/follow.ts'
import { serveProbes } from '../../runtime/agent/probes.ts'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { Gateway } from '../../runtime/gateway/gateway.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type EngineMemory, readSynced, recoverFolder, runCycle } from '../../runtime/sync/cycle.ts'
import { memorySource, type Tree } from './memory-source.ts'
import { temporaryFolder } from './repository.ts'
import { until } from './world.ts'

const pod = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }

type Options = {
  /** The downward API at the time of the call. */
  pod?: () => PodFacts
  dataDir?: string
  clock?: Clock
  gateway?: Gateway
  mode?: FollowDeps['mode']
  profile?: object
  waitedMs?: number
  recoveringMs?: number
  recover?: FollowDeps['recover']
  listChanges?: NonNullable<FollowDeps['listChanges']>
  listTimeoutMs?: number
  capture?: NonNullable<FollowDeps['capture']>
  captureQuiet?: NonNullable<FollowDeps['captureQuiet']>
}

/** A follower that runs until the test ends. */
export function follow(t: Pick<Test, 'teardown'>, options: Options = {}) {
  const { dataDir = temporaryFolder(t, 'follow'), clock = systemClock, gateway, mode = async () => ({ name: '', from: 'None' }) } = options
  const profile = options.profile ?? { mappings: [{ source: 'projects', destination: 'projects' }] }
  mkdirSync(path.join(dataDir, 'projects'), { recursive: true })
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const reports: SyncReportStatus[] = []
  /** While set, contents arrive and the stream does not end. */
  const fetching = { asked: 0, hangs: false }
  const slow: typeof source = {
    ...source,
    async blobs(request, sink, signal) {
      await source.blobs(request, sink, signal)
      fetching.asked += 1
      if (!fetching.hangs) return
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }))
    },
  }
  const follower = new Follower(
    {
      clock,
      log: silentLog,
      source: () => slow,
      gateway: () => gateway,
      mode,
      podFacts: async () => options.pod?.() ?? pod,
      readSynced: () => readSynced(dataDir),
      recover:
        options.recover ??
        (async (failed, signal) => {
          const recover = async () => await recoverFolder({ clock: systemClock, log: silentLog, memory }, dataDir, signal)
          await endInterrupted({ recover, failed, clock, log: silentLog }, { dataDir, recoveringMs: options.recoveringMs ?? 0 }, signal)
        }),
      cycle: (from, to, target, signal) =>
        runCycle({ source: from, gateway: to, clock: systemClock, log: silentLog, memory }, target, signal),
      report: (status) => void reports.push(status),
      ...(options.listChanges === undefined ? {} : { listChanges: options.listChanges }),
      ...(options.listTimeoutMs === undefined ? {} : { listTimeoutMs: options.listTimeoutMs }),
      ...(options.capture === undefined ? {} : { capture: options.capture }),
      ...(options.captureQuiet === undefined ? {} : { captureQuiet: options.captureQuiet }),
    },
    { gatewaySync: 'plant', dataDir, agentVersion: 'test', waitedMs: options.waitedMs ?? 0, recoveringMs: options.recoveringMs ?? 0 },
  )
  const followed = (tree: Tree, paused: boolean): FollowedSync => ({
    uid: 'u',
    annotations: {},
    spec: {
      git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
      paused,
      sync: { profiles: { default: profile } },
    },
    status: {
      published: { commit: source.commit(tree), ref: 'main' },
      delivery: { url: 'https://delivery', caBundle: '' },
    } as unknown as FollowedSync['status'],
  })
  const stop = new AbortController()
  const running = follower.run(stop.signal)
  const end = async (): Promise<void> => {
    stop.abort(new Error('the test is over'))
    await running
  }
  t.teardown(end)
  const reported = async (phase: string, commit?: string): Promise<SyncReportStatus> =>
    await until(
      () => {
        const last = reports.at(-1)
        return last?.phase === phase && (commit === undefined || last.commit === commit) ? last : undefined
      },
      `the report says ${phase}; the last was ${JSON.stringify(reports.at(-1))}`,
    )
  return { dataDir, source, follower, followed, reported, reports, fetching, end }
}

/** The answer to the kubelet at /startz. */
export async function startProbe(t: Pick<Test, 'teardown'>, follower: Follower): Promise<() => Promise<number>> {
  const stop = new AbortController()
  const deps = { clock: systemClock, log: silentLog, health: () => follower.health(), metrics: () => '' }
  const { opened, closed } = serveProbes(deps, { port: 0, host: '127.0.0.1' }, stop.signal)
  const port = await opened
  t.teardown(async () => {
    stop.abort()
    await closed
  })
  return async () => {
    const response = await fetch(`http://127.0.0.1:${port}/startz`, { headers: { connection: 'close' } })
    await response.text()
    return response.status
  }
}

/** A clock that a test advances. */
export function clockAhead() {
  const ahead = { ms: 0 }
  return { ahead, clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead.ms } }
}
