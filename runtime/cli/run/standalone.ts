/**
 * Runs the operator on one machine: the reconcile decisions of the controller, the sync engine of the agent and the receiver, with one GatewaySync in
 * a file instead of an API server.
 */
import path from 'node:path'
import { Follower } from '../../agent/follow.ts'
import { podAnnotations } from '../../api/names.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Source } from '../../content/protocol/protocol.ts'
import { connectGateway } from '../../gateway/gateway.ts'
import { createModeFinder } from '../../gateway/mode.ts'
import { asFault, type Fault } from '../../platform/fault.ts'
import { type Log, logOf } from '../../platform/log/log.ts'
import { createCommitStatuses } from '../../notifications/commit-status/report.ts'
import { createCommitContents } from '../../reconcile/source/commit-contents.ts'
import { createGatewayQueries } from '../../reconcile/gateway-queries.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { createResolutions } from '../../reconcile/source/resolutions.ts'
import { Queue } from '../../platform/async/queue.ts'
import { reconcile, type ReconcileDeps } from '../../reconcile/reconcile.ts'
import { createStore } from '../../reconcile/store/store.ts'
import { syncKey } from '../../reconcile/store/records.ts'
import type { StandaloneSync, Target } from '../../standalone/settings.ts'
import type { Commits } from '../../statuspage/views/commits.ts'
import { createObjectStore, type ObjectStore } from '../../standalone/object-store.ts'
import { type CycleWatch, type EngineMemory, readSynced, recoverFolder, runCycle } from '../../sync/cycle.ts'
import { readSmallFile } from '../../sync/disk/disk.ts'
import type { Plan } from '../../sync/plan/plan.ts'
import { createCommitCache } from '../output/commit-words.ts'
import type { ChangedPaths } from '../output/events.ts'
import type { CommitFacts, CycleFacts } from '../output/narrate.ts'
import { decisionsOf, openSources, removeFormerMirrors } from './standalone-sources.ts'

/** `stateDir` keeps mirrors, requests, status and reports from one run to the next. */
export type StandaloneSettings = {
  sync: StandaloneSync
  targets: readonly Target[]
  stateDir: string
  /** Replaces the Secrets of a cluster: `<dir>/<name>/<key>`. */
  secretsDir: string | undefined
  version: string
  /** Write nothing before the git host has answered, so that the first report is about its answer; and check every managed file. */
  sourceFirst: boolean
  /** The API key of the gateways, read at each use. */
  apiKey(): Promise<string | undefined>
}

/** Observes a run. */
export type StandaloneWatcher = {
  /** After each reconcile: the status of the GatewaySync, and the fault of the last source resolution. */
  status(status: GatewaySyncStatus, fault: Fault | undefined, answered: boolean): void
  /** The run cannot reconcile; it keeps trying. */
  failed(fault: Fault): void
  /** A target's report of this run, and the result of its cycle. */
  report(target: string, status: SyncReportStatus, cycle: CycleFacts): void
  /** The git host returned a commit for `ref`. */
  named?(ref: string, commit: string): void
  /** Number of received files of those that a target's sync writes. */
  progress?(target: string, done: number, total: number): void
}

/** `run` settles after the signal, when all work has ended, and rejects with the error of a part that failed. */
export type Standalone = {
  /** The current request annotations and status, for the receiver. */
  keeper: ObjectStore
  /** What is known of a commit besides its hash. */
  about(commit: string): CommitFacts
  /** Descriptions and changes of commits, for the status page. */
  commits: Commits
  run(signal: AbortSignal): Promise<void>
}

/** The operator in one process: the controller's decisions and an agent for each target, with a state directory instead of an API server. */
export function createStandalone(
  settings: StandaloneSettings,
  watcher: StandaloneWatcher,
  { clock, log }: { clock: Clock; log: Log },
): Standalone {
  const { sync, targets } = settings
  const key = syncKey(sync.namespace, sync.name)
  const stopping = new AbortController()
  const queue = new Queue({
    clock,
    workers: 1,
    pass: (changed, signal) => reconcile(passDeps, changed, signal),
    failed(_key, error) {
      log.error({ err: error }, 'reconcile failed')
      watcher.failed(asFault(error))
    },
  })
  const store = createStore((changed) => queue.add(changed))
  const keeper = createObjectStore({ store, clock, log }, settings)
  const lookups = createResolutions({
    clock,
    hosts: new FairLimiter({ total: 1, clock }),
    ready: (changed) => queue.add(changed),
    signal: stopping.signal,
  })
  const sources = openSources({ clock, log, keeper, changed: () => queue.add(key) }, settings, stopping.signal)
  const queries = createGatewayQueries({ clock, log, network: sources.network, allowedHosts: [], changed: (changed) => queue.add(changed) })
  const commits = createCommitCache()
  const contents = createCommitContents({ mirrors: sources.mirrors, clock })
  const followers = createTargets(
    {
      clock,
      log,
      source: sources.mirrors.source(sync),
      apiKey: settings.apiKey,
      report(target, status, cycle) {
        keeper.setReport(target, status)
        watcher.report(target, status, cycle)
      },
      progress: (...what) => watcher.progress?.(...what),
    },
    { sync, targets, version: settings.version, thorough: settings.sourceFirst },
  )
  const failed = (_sync: unknown, { reason, message }: Fault): void => log.info({ reason, message }, 'event')
  const statuses = createCommitStatuses({ clock, log, open: sources.hostApi, delivered() {}, failed }, stopping.signal)
  let isFollowing = !settings.sourceFirst
  const observeAll = (): void => {
    if (isFollowing) followers.observe(keeper.record())
  }
  const passDeps: ReconcileDeps = {
    ...decisionsOf({ clock, log, store, lookups, sources, commits, named: (...what) => watcher.named?.(...what) }, settings),
    queries,
    async writeStatus(_record, status) {
      const written = keeper.setStatus(status)
      observeAll()
      return written
    },
    observed(_key, status) {
      const last = lookups.last(key)
      if (last !== undefined && !isFollowing) {
        isFollowing = true
        observeAll()
      }
      statuses.observed({ namespace: sync.namespace, name: sync.name, git: sync.spec.git, status: keeper.record().status })
      if (status !== undefined) watcher.status(status, last?.fault, last !== undefined)
    },
  }

  return {
    keeper,
    commits: { words: (_key, ...what) => contents.words(sync, ...what), changes: (_key, ...what) => contents.changes(sync, ...what) },
    about: (commit) => commits.about(commit, clock.monotonicMs()),
    async run(outer) {
      const signal = AbortSignal.any([outer, stopping.signal])
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true })
      log.info({ namespace: sync.namespace, name: sync.name, count: targets.length }, 'started')
      await removeFormerMirrors(sources.mirrors, sync, log, signal)
      queue.add(key)
      observeAll()
      const parts = [queue.run(signal), queries.run(signal), sources.secrets.run(signal), ...followers.start(signal)]
      // A failed part stops the run: a process that accepts pushes and syncs nothing would be worse than none.
      for (const part of parts) part.catch((error: unknown) => stopping.abort(error))
      const ended = await Promise.allSettled(parts)
      await Promise.all([lookups.settled(), statuses.settled()])
      await sources.close()
      for (const end of ended) if (end.status === 'rejected') throw end.reason
      log.info({ message: timestamp(clock.now()) }, 'stopped')
    },
  }
}

type Targets = {
  /** Passes the current GatewaySync to all of them. */
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
  /** Number of received files of those that a target's sync writes. */
  progress(target: string, done: number, total: number): void
}

type Settings = {
  sync: StandaloneSync
  targets: readonly Target[]
  version: string
  /** Check every managed file, not only those whose content the last cycle did not verify. */
  thorough: boolean
}

const maxConfBytes = 1024 * 1024

/** The agents of a run, one for each target; they start and stop together. */
function createTargets(deps: Deps, settings: Settings): Targets {
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
  return new Follower(
    {
      clock,
      log: log.child({ gateway: name }),
      source: () => deps.source,
      gateway: () => (url === undefined ? undefined : connectGateway({ url, apiKey: deps.apiKey, clock, log })),
      mode: createModeFinder({ clock, ignitionConf: () => readSmallFile(conf, maxConfBytes)?.toString('utf8') }, { target: mode }),
      podFacts: async () => podFacts,
      readSynced: () => readSynced(dataDir),
      recover: async (_failed, signal) => void (await recoverFolder({ clock, log, memory }, dataDir, signal)),
      async cycle(source, gateway, target, signal) {
        const startedMs = clock.monotonicMs()
        last = {}
        const watch: CycleWatch = {
          planned: (plan) => (last = { paths: changedPaths(plan) }),
          arrived: (done, total) => deps.progress(name, done, total),
        }
        const own = logOf(log.child({ gateway: name }), target.requestId)
        const result = await runCycle({ source, gateway, clock, log: own, memory, watch }, { ...target, thorough }, signal)
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
