/**
 * Flows A, B and C on one machine: the reconcile decisions of the controller, the engine of the agent and the receiver, joined by one
 * GatewaySync that is kept in a file instead of an API server.
 */
import { type Clock, timestamp } from '../../clock.ts'
import type { SyncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { asFault, type Fault } from '../../fault.ts'
import type { Log } from '../../log.ts'
import { createCommitStatuses } from '../../notify/commit-status/tell.ts'
import { createCommitContents } from '../../reconcile/commit-contents.ts'
import { createGatewayQueries } from '../../reconcile/gateway-queries.ts'
import { createLookups } from '../../reconcile/lookups.ts'
import { createQueue } from '../../reconcile/queue.ts'
import { reconcile, type ReconcileDeps } from '../../reconcile/reconcile.ts'
import { createStore } from '../../reconcile/store.ts'
import { syncKey } from '../../reconcile/records.ts'
import type { StandaloneSync, Target } from '../../standalone/settings.ts'
import type { Commits } from '../../statuspage/commits.ts'
import { createObjectStore, type ObjectStore } from '../../standalone/object-store.ts'
import { createKnownCommits } from '../story/commit-words.ts'
import type { CommitFacts, CycleFacts } from '../story/narrate.ts'
import { decisionsOf, openSources, removeFormerMirrors } from './standalone-sources.ts'
import { createTargets } from './targets.ts'

/** `stateDir` keeps mirrors, requests, status and reports from one run to the next. */
export type StandaloneSettings = {
  sync: StandaloneSync
  targets: readonly Target[]
  stateDir: string
  /** Stands for the Secrets of a cluster: `<dir>/<name>/<key>`. */
  secretsDir: string | undefined
  version: string
  /** Write nothing before the git host answered, so that the first report is about its answer; and look at every file of ours. */
  sourceFirst: boolean
  /** The API key of the gateways, read at each use. */
  apiKey(): Promise<string | undefined>
}

/** What a run tells while it runs. */
export type StandaloneWatcher = {
  /** After each pass: what is known of the GatewaySync, and the fault of the last question to the git host. */
  status(status: GatewaySyncStatus, fault: Fault | undefined, answered: boolean): void
  /** What keeps the run from deciding anything; it goes on trying. */
  failed(fault: Fault): void
  /** A target's report of this run, and what the cycle behind it did. */
  report(target: string, status: SyncReportStatus, cycle: CycleFacts): void
  /** The git host was asked for `ref` and named a commit. */
  named?(ref: string, commit: string): void
  /** Files that have arrived of those that a target's sync writes. */
  progress?(target: string, done: number, total: number): void
}

/** `run` settles after the signal, when all that was begun has ended, and rejects with the error of a part that ended by itself. */
export type Standalone = {
  /** The request annotations and the status as they are now, for the receiver. */
  keeper: ObjectStore
  /** What is known of a commit besides its hash. */
  about(commit: string): CommitFacts
  /** Words and changes of commits, for people who look at them. */
  commits: Commits
  run(signal: AbortSignal): Promise<void>
}

/**
 * The operator in one process: the controller's decisions and an agent for each target, around a state directory in the place of an API
 * server.
 */
export function createStandalone(
  settings: StandaloneSettings,
  watcher: StandaloneWatcher,
  { clock, log }: { clock: Clock; log: Log },
): Standalone {
  const { sync, targets } = settings
  const key = syncKey(sync.namespace, sync.name)
  const stopping = new AbortController()
  const queue = createQueue({
    clock,
    workers: 1,
    pass: (changed, signal) => reconcile(passDeps, changed, signal),
    failed(_key, error) {
      log.error({ err: error }, 'a pass failed')
      watcher.failed(asFault(error))
    },
  })
  const store = createStore((changed) => queue.add(changed))
  const keeper = createObjectStore({ store, clock, log }, settings)
  const lookups = createLookups({ clock, concurrency: 1, ready: (changed) => queue.add(changed), signal: stopping.signal })
  const sources = openSources({ clock, log, keeper, changed: () => queue.add(key) }, settings, stopping.signal)
  const queries = createGatewayQueries({ clock, log, network: sources.network, allowedHosts: [], changed: (changed) => queue.add(changed) })
  const commits = createKnownCommits()
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
  const statuses = createCommitStatuses({ clock, log, open: sources.hostApi, told() {}, failed }, stopping.signal)
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
      // One that ends with an error ends the run: a process that answers pushes and syncs nothing would be worse than none.
      for (const part of parts) part.catch((error: unknown) => stopping.abort(error))
      const ended = await Promise.allSettled(parts)
      await Promise.all([lookups.settled(), statuses.settled()])
      await sources.close()
      for (const end of ended) if (end.status === 'rejected') throw end.reason
      log.info({ message: timestamp(clock.now()) }, 'stopped')
    },
  }
}
