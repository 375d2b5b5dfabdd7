/**
 * Runs the operator on one machine: the reconcile decisions of the controller, the sync engine of the agent and the receiver, with one GatewaySync in
 * a file instead of an API server.
 */
import path from 'node:path'
import { Follower } from '../../agent/follow.ts'
import { podAnnotations } from '../../api/names.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Source } from '../../content/protocol/protocol.ts'
import { connectGateway } from '../../gateway/gateway.ts'
import { createModeFinder } from '../../gateway/mode.ts'
import { asFault, type Fault } from '../../platform/fault.ts'
import { type Log, logOf } from '../../platform/log/log.ts'
import { createCommitStatuses } from '../../notifications/commit-status.ts'
import { createCommitContents } from '../../reconcile/source/commit-contents.ts'
import { GatewayQueries } from '../../reconcile/gateway-queries.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { Resolutions } from '../../reconcile/source/resolutions.ts'
import { Queue } from '../../platform/async/queue.ts'
import { reconcile, type ReconcileDeps } from '../../reconcile/reconcile.ts'
import { Store } from '../../reconcile/store/store.ts'
import { syncKey } from '../../reconcile/store/records.ts'
import type { StandaloneSync, Target } from '../../standalone/settings.ts'
import type { Commits } from '../../statuspage/views/commits.ts'
import { ObjectStore } from '../../standalone/object-store.ts'
import { type CycleWatch, type EngineMemory, readSynced, recoverFolder, runCycle } from '../../sync/cycle.ts'
import { readSmallFile } from '../../sync/disk/disk.ts'
import type { Plan } from '../../sync/plan/plan.ts'
import type { CommitFacts, CycleFacts, ChangedPaths } from '../output/narrate.ts'
import { decisionsOf, openSources, removeFormerMirrors, createCommitCache } from './standalone-sources.ts'

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
  objects: ObjectStore
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
  const queue = openQueue({ clock, log, watcher }, (changed, signal) => reconcile(reconcileDeps, changed, signal))
  const store = new Store((changed) => queue.add(changed))
  const objects = new ObjectStore({ store, clock, log }, settings)
  const resolutions = new Resolutions({
    clock,
    hosts: new FairLimiter({ total: 1, clock }),
    ready: (changed) => queue.add(changed),
    signal: stopping.signal,
  })
  const sources = openSources({ clock, log, objects, changed: () => queue.add(key) }, settings, stopping.signal)
  const queries = new GatewayQueries({ clock, log, network: sources.network, allowedHosts: [], changed: (changed) => queue.add(changed) })
  const commits = createCommitCache()
  const contents = createCommitContents({ mirrors: sources.mirrors, clock })
  const followers = new Targets({ clock, log, source: sources.mirrors.source(sync), objects, watcher }, settings)
  const failed = (_sync: unknown, { reason, message }: Fault): void => log.info({ reason, message }, 'event')
  const statuses = createCommitStatuses({ clock, log, open: sources.hostApi, delivered() {}, failed }, stopping.signal)
  const reconcileDeps: ReconcileDeps = {
    ...decisionsOf({ clock, log, store, resolutions, sources, commits, named: (...what) => watcher.named?.(...what) }, settings),
    queries,
    async writeStatus(_record, status) {
      const written = objects.setStatus(status)
      followers.observe()
      return written
    },
    observed(_key, status) {
      const last = resolutions.last(key)
      if (last !== undefined) followers.release()
      statuses.observed({ namespace: sync.namespace, name: sync.name, git: sync.spec.git, status: objects.record().status })
      if (status !== undefined) watcher.status(status, last?.fault, last !== undefined)
    },
  }

  return {
    objects,
    commits: { summary: (_key, ...what) => contents.summary(sync, ...what), changes: (_key, ...what) => contents.changes(sync, ...what) },
    about: (commit) => commits.about(commit, clock.monotonicMs()),
    async run(outer) {
      const signal = AbortSignal.any([outer, stopping.signal])
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true })
      log.info({ namespace: sync.namespace, name: sync.name, count: targets.length }, 'started')
      await removeFormerMirrors(sources.mirrors, sync, log, signal)
      queue.add(key)
      followers.observe()
      const parts = [queue.run(signal), queries.run(signal), sources.secrets.run(signal), ...followers.start(signal)]
      await settledAll(parts, stopping, async () => {
        await Promise.all([resolutions.settled(), statuses.settled()])
        await sources.close()
      })
      log.info({}, 'stopped')
    },
  }
}

function openQueue(
  { clock, log, watcher }: Pick<Deps, 'clock' | 'log' | 'watcher'>,
  reconcileOne: ConstructorParameters<typeof Queue>[0]['reconcile'],
): Queue {
  return new Queue({
    clock,
    workers: 1,
    reconcile: reconcileOne,
    failed(_key, error) {
      log.error({ err: error, hasEvent: true }, 'reconcile failed')
      watcher.failed(asFault(error))
    },
  })
}

/**
 * Settles when all parts have ended and `close` has settled, and rejects with the error of a part. A failed part stops the run: a process
 * that accepts pushes and syncs nothing would be worse than none.
 */
async function settledAll(parts: readonly Promise<void>[], stopping: AbortController, close: () => Promise<void>): Promise<void> {
  for (const part of parts) part.catch((error: unknown) => stopping.abort(error))
  const ended = await Promise.allSettled(parts)
  await close()
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

type Deps = { clock: Clock; log: Log; source: Source; objects: ObjectStore; watcher: StandaloneWatcher }

const maxConfBytes = 1024 * 1024

/** The agents of a run, one for each target; they start and stop together. With `sourceFirst` they wait until the git host has answered. */
class Targets {
  readonly #objects: ObjectStore
  readonly #followers: readonly Follower[]
  #isHeld: boolean

  constructor(deps: Deps, settings: StandaloneSettings) {
    this.#objects = deps.objects
    this.#followers = settings.targets.map((target) => followTarget(deps, settings, target))
    this.#isHeld = settings.sourceFirst
  }

  /** Passes the current GatewaySync to all of them. */
  observe(): void {
    if (this.#isHeld) return
    const { uid, annotations, spec, status } = this.#objects.record()
    for (const follower of this.#followers) follower.observe({ uid, annotations, spec, status })
  }

  /** The git host has answered. */
  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.observe()
  }

  /** Starts all of them; each promise settles after the signal, or with the error that ended one. */
  start(signal: AbortSignal): Promise<void>[] {
    return this.#followers.map((follower) => follower.run(signal))
  }
}

function followTarget(
  { clock, log, source, objects, watcher }: Deps,
  { sync, version, sourceFirst, apiKey }: StandaloneSettings,
  target: Target,
): Follower {
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
      source: () => source,
      gateway: () => (url === undefined ? undefined : connectGateway({ url, apiKey, clock, log })),
      mode: createModeFinder({ clock, ignitionConf: () => readSmallFile(conf, maxConfBytes)?.toString('utf8') }, { target: mode }),
      podFacts: async () => podFacts,
      readSynced: () => readSynced(dataDir),
      recover: async (_failed, signal) => void (await recoverFolder({ clock, log, memory }, dataDir, signal)),
      async cycle(source, gateway, target, signal) {
        const startedMs = clock.monotonicMs()
        last = {}
        const watch: CycleWatch = {
          planned: (plan) => (last = { paths: changedPaths(plan) }),
          arrived: (done, total) => watcher.progress?.(name, done, total),
          scanned: (read) => (last = { ...last, read }),
        }
        const own = logOf(log.child({ gateway: name }), target.requestId)
        const result = await runCycle({ source, gateway, clock, log: own, memory, watch }, { ...target, checkDrift: sourceFirst }, signal)
        last = { ...last, durationMs: clock.monotonicMs() - startedMs }
        return result
      },
      report(status) {
        objects.setReport(name, status)
        watcher.report(name, status, last)
      },
    },
    { gatewaySync: sync.name, dataDir, agentVersion: version },
  )
}

/** Maximum number of paths of each kind in an event. */
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
