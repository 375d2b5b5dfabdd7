/**
 * Flows A, B and C on one machine: the reconcile decisions of the controller, the engine of the agent and the receiver, joined by one
 * GatewaySync that is kept in a file instead of an API server.
 */
import path from 'node:path'
import { createFollower, type Follower } from '../agent/follow.ts'
import { type Clock, timestamp } from '../clock.ts'
import { podAnnotations } from '../gatewaysync/names.ts'
import { sourceSecretNames } from '../gatewaysync/schema/secret-names.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { keptCommits } from '../reconcile/needed-commits.ts'
import { createSyncMirrors } from '../reconcile/mirrors-of-syncs.ts'
import { readProxies } from '../config.ts'
import { asFault, type Fault } from '../fault.ts'
import { connectGateway, type Gateway } from '../gateway/gateway.ts'
import { createModeFinder } from '../gateway/mode.ts'
import type { Log } from '../log.ts'
import { openIsolatedGate } from '../gate/isolate.ts'
import { createMarks } from '../gate/marks.ts'
import { createCommitCheck } from '../reconcile/commit-check.ts'
import { createSecretChanges } from '../reconcile/secret-changes.ts'
import { createSignatureCheck } from '../reconcile/signature-check.ts'
import { createLookups } from '../reconcile/lookups.ts'
import { createQueue } from '../reconcile/queue.ts'
import { reconcile, type ReconcileDeps } from '../reconcile/reconcile.ts'
import { createStore, syncKey } from '../reconcile/store.ts'
import type { Network } from '../source/remote/network.ts'
import { createMirrors } from '../source/mirrors.ts'
import { createRemotes } from '../source/remotes.ts'
import { readSecretFolder } from '../standalone/secrets.ts'
import type { StandaloneSync, Target } from '../standalone/settings.ts'
import { createObjectStore, type ObjectStore } from '../standalone/object-store.ts'
import { readSmallFile } from '../sync/disk/disk.ts'
import { type EngineMemory, present, recoverFolder, runCycle } from '../sync/cycle.ts'

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
  /** A target's report of this run. */
  report(target: string, status: SyncReportStatus): void
}

export type Standalone = {
  /** The request annotations and the status as they are now, for the receiver. */
  keeper: ObjectStore
  run(signal: AbortSignal): Promise<void>
}

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
    pass: (key, signal) => reconcile(deps, key, signal),
    failed(_key, error) {
      log.error({ err: error }, 'a pass failed')
      watcher.failed(asFault(error))
    },
  })
  const store = createStore((changed) => queue.add(changed))
  const keeper = createObjectStore({ store, clock, log }, settings)
  const lookups = createLookups({ clock, concurrency: 1, ready: (key) => queue.add(key), signal: stopping.signal })
  const folder = path.join(settings.stateDir, 'mirrors')
  const network: Network = { resolve: undefined, proxy: readProxies() }
  const mirrors = createMirrors({ folder, clock, log, network, needed: () => new Set(keptCommits(keeper.record().status)) })
  const secrets = createSecretChanges({
    readSecret: readSecretFolder(settings.secretsDir),
    users: () => [{ key, namespace: sync.namespace, secrets: sourceSecretNames(sync.spec.git) }],
    changed: (changed) => queue.add(changed),
    clock,
  })
  const { readSecret } = secrets
  const remoteOf = createRemotes({ allowLocal: true, allowedHosts: [], readSecret, network, clock, signal: stopping.signal })
  const syncMirrors = createSyncMirrors(mirrors, remoteOf)
  const gate = openIsolatedGate({ clock, log, marks: createMarks(path.join(settings.stateDir, 'checking.json')) })
  const followers = new Map<string, Follower>()
  let following = !settings.sourceFirst

  const deps: ReconcileDeps = {
    store,
    lookups,
    clock,
    log,
    allowLocal: true,
    async resolve(_record, _spec, wanted, fresh, signal) {
      const mirror = await syncMirrors.of(sync, signal)
      const resolved = await mirror.resolve(wanted.ref, { fresh }, signal)
      syncMirrors.answered(key, mirror)
      return resolved
    },
    // There is one GatewaySync, which was told itself.
    async adopt() {},
    verify: createSignatureCheck({ readSecret, rawObject: (_key, ...what) => syncMirrors.held(key).rawObject(...what), folder, clock }),
    secretChanges: secrets.count,
    ...createCommitCheck({ store, gate, inMirror: (_key, ...how) => syncMirrors.held(key).readBy(...how) }),
    delivery: () => ({ url: 'in-process', caBundle: '' }),
    async writeStatus(_record, status) {
      const written = keeper.setStatus(status)
      if (following) observeAll()
      return written
    },
    recordEvents: (_record, events) => {
      for (const { reason, note } of events) log.info({ reason, message: note }, 'event')
    },
    observed(_key, status) {
      const last = lookups.last(key)
      if (last !== undefined && !following) {
        following = true
        observeAll()
      }
      if (status !== undefined) watcher.status(status, last?.fault, last !== undefined)
    },
    gone() {},
  }

  const observeAll = (): void => {
    const { annotations, spec, status } = keeper.record()
    for (const follower of followers.values()) follower.observe({ annotations, spec, status })
  }

  for (const target of targets) followers.set(target.name, followTarget(target))

  function followTarget(target: Target): Follower {
    const podFacts = {
      podName: target.name,
      namespace: sync.namespace,
      annotations: { [podAnnotations.profile]: target.profile, [podAnnotations.gatewayName]: target.name },
      labels: {},
    }
    const memory: EngineMemory = { manifest: undefined }
    const conf = path.join(target.dataDir, 'ignition.conf')
    return createFollower(
      {
        clock,
        log: log.child({ gateway: target.name }),
        source: () => syncMirrors.source(sync),
        gateway: () => gatewayOf(target),
        mode: createModeFinder({ clock, ignitionConf: () => readSmallFile(conf, 1024 * 1024)?.toString('utf8') }, { target: target.mode }),
        podFacts: async () => podFacts,
        present: () => present(target.dataDir),
        recover: async (signal) => void (await recoverFolder({ clock, log, memory }, target.dataDir, signal)),
        cycle: (source, gateway, wanted, signal) =>
          runCycle({ source, gateway, clock, log, memory }, { ...wanted, thorough: settings.sourceFirst }, signal),
        report(status) {
          keeper.setReport(target.name, status)
          watcher.report(target.name, status)
        },
      },
      { gatewaySync: sync.name, dataDir: target.dataDir, agentVersion: settings.version },
    )
  }

  function gatewayOf({ gatewayUrl }: Target): Gateway | undefined {
    return gatewayUrl === undefined ? undefined : connectGateway({ url: gatewayUrl, apiKey: settings.apiKey, clock, log })
  }

  /** The GatewaySync may have named another repository before. */
  const removeFormerMirrors = async (signal: AbortSignal): Promise<void> => {
    try {
      await syncMirrors.prune([{ namespace: sync.namespace, repo: sync.spec.git.repo, git: sync.spec.git }], signal)
    } catch (error) {
      log.warn({ message: asFault(error).message }, 'the mirror of a former repository was not removed')
    }
  }

  return {
    keeper,
    async run(outer) {
      const signal = AbortSignal.any([outer, stopping.signal])
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true })
      log.info({ namespace: sync.namespace, name: sync.name, count: targets.length }, 'started')
      await removeFormerMirrors(signal)
      queue.add(key)
      if (following) observeAll()
      const parts = [queue.run(signal), secrets.run(signal), ...[...followers.values()].map((follower) => follower.run(signal))]
      // One that ends with an error ends the run: a process that answers pushes and syncs nothing would be worse than none.
      for (const part of parts) part.catch((error: unknown) => stopping.abort(error))
      const ended = await Promise.allSettled(parts)
      await lookups.settled()
      await gate.close()
      await mirrors.close()
      for (const end of ended) if (end.status === 'rejected') throw end.reason
      log.info({ message: timestamp(clock.now()) }, 'stopped')
    },
  }
}
