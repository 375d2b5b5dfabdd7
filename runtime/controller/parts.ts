/**
 * Builds the shared collaborators of a replica at its start: store, mirrors, validation, Events, webhook keys.
 */
import path from 'node:path'
import type { Clock } from '../platform/clock.ts'
import type { ControllerConfig } from '../settings/environment.ts'
import { type IsolatedValidator, openIsolatedValidator } from '../validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../validation/worker/attempt-log.ts'
import { fieldManager, group } from '../api/names.ts'
import type { Kube } from '../kube/client.ts'
import { EventRecorder } from '../kube/events.ts'
import type { Log } from '../platform/log/log.ts'
import { createSyncMirrors, type SyncMirrors } from '../reconcile/source/mirrors-of-syncs.ts'
import { digestOfCommit, neededCommits } from '../reconcile/source/needed-commits.ts'
import { createSecretChanges, type SecretChanges, type SecretUser } from '../reconcile/source/secret-changes.ts'
import type { SharedLimiters } from '../reconcile/throttling.ts'
import { type ChangeKind, Store } from '../reconcile/store/store.ts'
import type { VolumeFigures } from '../git/mirror/volume.ts'
import { createHostApis, type OpenHostApi } from '../git/api/host-api.ts'
import { createMirrors } from '../git/mirrors.ts'
import { type Network, createResolveHost } from '../git/remote/network.ts'
import { createRemotes, type RemoteOf } from '../git/remotes.ts'
import { type SyncKey, syncKey } from '../reconcile/store/records.ts'
import { specOf } from '../api/schema/spec-of.ts'
import type { ControllerSettings } from '../settings/controller.ts'
import { createGetSecret, readClusterSecret } from './cluster/secrets.ts'
import { OtherClusters } from './page/other-clusters.ts'
import { createPushKeys, type PushKeys } from './serve/webhook-keys.ts'
import { createUnfollowed, type Unfollowed } from './cluster/pod-events.ts'
import { sourceSecretNames } from '../api/schema/spec.ts'

/** The share of the volume for mirrors; the rest is for the file system and for temporary files of git. */
const shareOfVolume = 0.9

/** One of each per replica. */
export type Parts = {
  /** Publishes each GatewaySync that a change may concern. */
  changes: Changes
  store: Store
  /** Detects changes of the Secrets that sources need. */
  secrets: SecretChanges
  mirrors: SyncMirrors
  /** Network access to git hosts and other addresses that a GatewaySync or the installation names. */
  network: Network
  /** Returns the remote of a GatewaySync's repository for given credentials. */
  remoteOf: RemoteOf
  /** The APIs of the git hosts that GatewaySyncs name. */
  hostApi: OpenHostApi
  validator: IsolatedValidator
  /** What namespaces use of this replica's git memory and validation. */
  limiters: SharedLimiters
  events: EventRecorder
  keys: PushKeys
  unfollowed: Unfollowed
  /** The fleets of other clusters that the status page shows. */
  clusters: OtherClusters
  /** Writes outstanding Events, and ends the validation worker and all git processes. */
  close(): Promise<void>
}

/** `isListed`: whether all objects of the cluster are known; only then may commits that no object names be removed. */
export function openParts(
  deps: { kube: Kube; clock: Clock; log: Log; figures: VolumeFigures },
  { settings, identity, apiServerHost }: ControllerConfig,
  isListed: () => boolean,
  signal: AbortSignal,
): Parts {
  const { clock, log, figures } = deps
  const { folder, sizeLimit, allowedHosts, allowLocal } = settings.source
  const changes = createChanges()
  const store = new Store(changes.publish, clock, warnOfTooMany(log))
  const getSecret = createGetSecret(deps)
  const secrets = createSecretChanges({
    readSecret: readClusterSecret({ getSecret, clock }),
    users: (namespace) => sourceSecretUsers(store, namespace),
    changed: (key) => changes.publish(key, 'other'),
    clock,
  })
  const network = networkOf(settings.source, apiServerHost)
  const gitMirrors = createMirrors({
    digestOf: (commit) => digestOfCommit(store, commit),
    folder,
    clock,
    log,
    needed: () => (isListed() ? neededCommits(store) : undefined),
    maxPackBytes: Math.floor(sizeLimit / 2),
    maxBytes: Math.floor(sizeLimit * shareOfVolume),
    network,
    figures,
  })
  const remoteOf = createRemotes({ allowLocal, allowedHosts, readSecret: secrets.readSecret, network, clock, signal })
  const validator = openIsolatedValidator({ clock, log, attemptLog: openAttemptLog(path.join(folder, 'checking.json')) })
  const events = new EventRecorder(deps, { component: `${group}/${fieldManager}`, instance: identity })
  return {
    changes,
    store,
    secrets,
    mirrors: createSyncMirrors(gitMirrors, remoteOf),
    network,
    remoteOf,
    hostApi: createHostApis({ remoteOf, readSecret: secrets.readSecret, network, allowedHosts }),
    validator,
    limiters: new Map([
      ['git-memory', gitMirrors.memory],
      ['validation', validator.limiter],
    ]),
    events,
    keys: createPushKeys({ getSecret, clock }, settings.receiver),
    unfollowed: createUnfollowed({ ...deps, store, events }),
    clusters: new OtherClusters({ clock, log }, settings.statusPage?.clusters ?? []),
    async close() {
      await events.settled()
      await validator.close()
      await gitMirrors.close()
    },
  }
}

const warnOfTooMany =
  (log: Log) =>
  (namespace: string, kind: string): void =>
    log.warn(
      { namespace, message: `more ${kind}s than the controller keeps` },
      'a namespace has too many objects: further ones are ignored',
    )

/** Called with a GatewaySync that may need a reconcile, and the kind of change. */
type ChangeListener = (key: SyncKey, kind: ChangeKind) => void

/** Connects the store to the leader's queue. */
type Changes = {
  publish: ChangeListener
  /** Calls `listener` with each change from now on; returns a function that unsubscribes. */
  subscribe(listener: ChangeListener): () => void
}

/** Listeners are called in order of subscription and must not throw. */
function createChanges(): Changes {
  const listeners = new Set<ChangeListener>()
  return {
    publish(key, kind) {
      for (const listener of listeners) listener(key, kind)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A GatewaySync with an invalid spec needs none, because its source is not resolved. */
function sourceSecretUsers(store: Pick<Store, 'syncs'>, of: string | undefined): SecretUser[] {
  return store.syncs(of).flatMap((record) => {
    const spec = specOf(record)
    if (spec === undefined) return []
    const { namespace, name } = record
    return [{ key: syncKey(namespace, name), namespace, secrets: sourceSecretNames(spec.git) }]
  })
}

/** `apiServerHost`: the address of the API server, which no repository URL may lead to. */
function networkOf(
  { allowPrivateAddresses, allowedAddresses, proxy, noProxy }: ControllerSettings['source'],
  apiServerHost: string | undefined,
): Network {
  const refused = apiServerHost === undefined ? [] : [apiServerHost]
  return {
    resolve: createResolveHost({ allowPrivate: allowPrivateAddresses, allowed: allowedAddresses, refused }),
    proxy: proxy === undefined ? undefined : { https: proxy, http: proxy, noProxy },
  }
}
