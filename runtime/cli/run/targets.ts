/**
 * The gateways of one machine: a follower for each data directory, as an agent is for each pod of a cluster.
 */
import path from 'node:path'
import { createFollower, type Follower } from '../../agent/follow.ts'
import type { Clock } from '../../clock.ts'
import type { Source } from '../../delivery/protocol.ts'
import { podAnnotations } from '../../gatewaysync/names.ts'
import type { SyncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { connectGateway } from '../../gateway/gateway.ts'
import { createModeFinder } from '../../gateway/mode.ts'
import { type Log, logOf } from '../../log.ts'
import type { StandaloneSync, Target } from '../../standalone/settings.ts'
import { type CycleWatch, type EngineMemory, readSynced, recoverFolder, runCycle } from '../../sync/cycle.ts'
import { readSmallFile } from '../../sync/disk/disk.ts'
import type { Plan } from '../../sync/plan/plan.ts'
import type { ChangedPaths } from '../story/events.ts'
import type { CycleFacts } from '../story/narrate.ts'

export type Targets = {
  /** The GatewaySync as it is now, for all of them. */
  observe(record: { uid: string; annotations: Readonly<Record<string, string>>; spec: unknown; status: GatewaySyncStatus }): void
  /** Starts all of them; each promise settles after the signal, or with the error that ended one. */
  start(signal: AbortSignal): Promise<void>[]
}

type Deps = {
  clock: Clock
  log: Log
  source: Source
  /** The API key of the gateways, read at each use. */
  apiKey(): Promise<string | undefined>
  report(target: string, status: SyncReportStatus, cycle: CycleFacts): void
  /** Files that have arrived of those that a target's sync writes. */
  progress(target: string, done: number, total: number): void
}

type Settings = {
  sync: StandaloneSync
  targets: readonly Target[]
  version: string
  /** Look at every file of ours, not only at those that the last cycle leaves in doubt. */
  thorough: boolean
}

const maxConfBytes = 1024 * 1024

/** The agents of a run, one for each target; they start and stop together. */
export function createTargets(deps: Deps, settings: Settings): Targets {
  const followers = settings.targets.map((target) => followTarget(deps, settings, target))
  return {
    observe({ uid, annotations, spec, status }) {
      for (const follower of followers) follower.observe({ uid, annotations, spec, status })
    },
    start: (signal) => followers.map((follower) => follower.run(signal)),
  }
}

function followTarget(deps: Deps, { sync, version, thorough }: Settings, target: Target): Follower {
  const { clock, log } = deps
  const { name, dataDir, profile, mode, labels, gatewayUrl: url } = target
  const memory: EngineMemory = { manifest: undefined }
  let last: CycleFacts = {}
  const conf = path.join(dataDir, 'ignition.conf')
  const podFacts = {
    podName: name,
    namespace: sync.namespace,
    annotations: { [podAnnotations.profile]: profile, [podAnnotations.gatewayName]: name },
    labels,
  }
  return createFollower(
    {
      clock,
      log: log.child({ gateway: name }),
      source: () => deps.source,
      gateway: () => (url === undefined ? undefined : connectGateway({ url, apiKey: deps.apiKey, clock, log })),
      mode: createModeFinder({ clock, ignitionConf: () => readSmallFile(conf, maxConfBytes)?.toString('utf8') }, { target: mode }),
      podFacts: async () => podFacts,
      readSynced: () => readSynced(dataDir),
      recover: async (_failed, signal) => void (await recoverFolder({ clock, log, memory }, dataDir, signal)),
      async cycle(source, gateway, wanted, signal) {
        const startedMs = clock.monotonicMs()
        last = {}
        const watch: CycleWatch = {
          planned: (plan) => (last = { paths: changedPaths(plan) }),
          arrived: (done, total) => deps.progress(name, done, total),
        }
        const own = logOf(log.child({ gateway: name }), wanted.requestId)
        const result = await runCycle({ source, gateway, clock, log: own, memory, watch }, { ...wanted, thorough }, signal)
        last = { ...last, durationMs: clock.monotonicMs() - startedMs }
        return result
      },
      report: (status) => deps.report(name, status, last),
    },
    { gatewaySync: sync.name, dataDir, agentVersion: version },
  )
}

/** So many paths of each kind are named. */
const namedPaths = 100

function changedPaths({ puts, deletes }: Plan): ChangedPaths {
  const paths: ChangedPaths = { added: [], changed: [], removed: [], more: 0 }
  const note = (list: string[], path: string): void => {
    if (list.length < namedPaths) list.push(path)
    else paths.more += 1
  }
  for (const { path, before } of puts) note(before === 'absent' ? paths.added : paths.changed, path)
  for (const { path } of deletes) note(paths.removed, path)
  return paths
}
