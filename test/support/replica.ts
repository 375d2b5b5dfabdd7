/**
 * A replica of the controller for pushes: its own client, watches and receiver, on the real API server. One of them may lead.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { watchCluster } from '../../runtime/controller/cluster/cluster.ts'
import { createPushKeys } from '../../runtime/controller/serve/webhook-keys.ts'
import { runLeader } from '../../runtime/controller/lead/leader.ts'
import { controllerReceiver } from '../../runtime/controller/serve/receiver.ts'
import { createGetSecret, readClusterSecret } from '../../runtime/controller/cluster/secrets.ts'
import { openIsolatedValidator } from '../../runtime/validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../../runtime/validation/worker/attempt-log.ts'
import { createKube, loadKube } from '../../runtime/kube/client.ts'
import { EventRecorder } from '../../runtime/kube/events.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import type { ReceiverDeps } from '../../runtime/receiver/receiver-deps.ts'
import { connectionBounds } from '../../runtime/receiver/limits.ts'
import { Captures } from '../../runtime/controller/captures/captures.ts'
import { createCommitValidation } from '../../runtime/reconcile/commit-validation.ts'
import { type ChangeKind, Store } from '../../runtime/reconcile/store/store.ts'
import type { SyncKey } from '../../runtime/reconcile/store/records.ts'
import { createSyncMirrors } from '../../runtime/reconcile/source/mirrors-of-syncs.ts'
import { serve } from '../../runtime/http/serve.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { createHostApis } from '../../runtime/git/api/host-api.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import { noTracing } from '../../runtime/telemetry/tracing/trace.ts'

export type Replica = {
  /** Base URL of its webhook receiver, which accepts the bearer token `token`. */
  url: string
  /** Outcomes of calls so far. */
  outcomes: string[]
  /** The number of source resolutions, if it leads. */
  syncs(): number
  /** The number of finished reconciles, if it leads. */
  passes(): number
}

/** `open`: the receiver needs no authentication. */
export type ReplicaOptions = {
  kubeconfig: string
  namespace: string
  folder: string
  leads?: boolean
  open?: boolean
  beforeStatus?: () => Promise<void>
} & Pick<ReceiverDeps, 'limits' | 'budget'>

export async function startReplica(t: Pick<Test, 'teardown'>, options: ReplicaOptions): Promise<Replica> {
  const { kubeconfig, namespace, folder, leads = false, open = false, beforeStatus, ...settings } = options
  const [clock, log, stop] = [systemClock, silentLog, new AbortController()]
  const kube = createKube(loadKube({ kubeconfig }), { clock, userAgent: 'test-replica' })
  const subscribers = new Set<(key: SyncKey, kind: ChangeKind) => void>()
  const store = new Store((key, kind) => {
    for (const changed of subscribers) changed(key, kind)
  })
  const events = new EventRecorder({ kube, clock, log }, { component: 'clustersync.io/test', instance: 'replica' })
  mkdirSync(folder, { recursive: true })
  const tokenFile = path.join(folder, 'token')
  writeFileSync(tokenFile, 'token\n')
  const getSecret = createGetSecret({ kube, clock })
  const outcomes: string[] = []
  const ready = Promise.withResolvers<void>()
  const watching = watchCluster({ kube, clock, log }, { store, namespaces: [namespace], ready: () => ready.resolve() }, stop.signal)
  await ready.promise
  const app = controllerReceiver(
    {
      kube,
      store,
      events,
      keys: createPushKeys({ getSecret, clock }, open ? {} : { tokenFile }),
      metrics: { received: (outcome) => outcomes.push(outcome) },
      tracing: noTracing,
      clock,
      log,
      notReady: () => [],
    },
    settings,
  )
  const served = await serve({ app, port: 0, host: '127.0.0.1', bounds: connectionBounds, log }, stop.signal)
  const gitMirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock, log })
  const way = { readSecret: readClusterSecret({ getSecret, clock }), network: openNetwork, allowedHosts: [] }
  const remoteOf = createRemotes({ ...way, allowLocal: true, clock, signal: stop.signal })
  const mirrors = createSyncMirrors(gitMirrors, remoteOf)
  const validator = openIsolatedValidator({ clock, log, attemptLog: openAttemptLog(path.join(folder, 'checking.json')) })
  let [syncs, passes] = [0, 0]
  const leading = !leads
    ? Promise.resolve()
    : runLeader(
        {
          kube,
          statusKube: {
            ...kube,
            async mergePatch(...write) {
              await beforeStatus?.()
              return await kube.mergePatch(...write)
            },
          },
          store,
          mirrors,
          captures: new Captures({
            store,
            mirrors,
            remoteOf,
            validator,
            hostApi: createHostApis({ ...way, remoteOf }),
            captured: () => undefined,
            clock,
            log,
          }),
          hostApi: createHostApis({ ...way, remoteOf }),
          network: openNetwork,
          allowedHosts: [],
          receivers: [],
          events,
          tracing: noTracing,
          clock,
          log,
          allowLocal: true,
          ...createCommitValidation({ store, validator, inMirror: (key, ...how) => mirrors.mirrorOf(key).readBy(...how) }),
          limiters: new Map([
            ['git-memory', gitMirrors.memory],
            ['validation', validator.limiter],
          ]),
          verify: async () => ({ kind: 'notRequired' }),
          secrets: { count: () => 0, run: async () => undefined },
          delivery: () => undefined,
          metrics: {
            queued() {},
            waited() {},
            observed() {},
            reconciled: () => void (passes += 1),
            notified() {},
            limiting() {},
            fetched: (ended) => void (syncs += ended === 'ok' ? 1 : 0),
          },
          bindAgentsTo: undefined,
          watchNamespaces: [],
          subscribe(changed) {
            subscribers.add(changed)
            return () => subscribers.delete(changed)
          },
        },
        stop.signal,
      )
  t.teardown(async () => {
    stop.abort()
    await Promise.allSettled([watching, leading, served.closed])
    await events.settled()
    await validator.close()
    await gitMirrors.close()
    kube.close()
  })
  return { url: served.url, outcomes, syncs: () => syncs, passes: () => passes }
}
