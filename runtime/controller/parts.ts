/**
 * What every replica works with, built once at its start: the store of the cluster's objects, mirrors, checks, Events, webhook keys.
 */
import path from 'node:path'
import type { Clock } from '../clock.ts'
import type { ControllerConfig } from '../config.ts'
import { type IsolatedGate, openIsolatedGate } from '../gate/isolate.ts'
import { createMarks } from '../gate/marks.ts'
import { fieldManager, group } from '../gatewaysync/names.ts'
import type { Kube } from '../kube/client.ts'
import { type EventRecorder, eventRecorder } from '../kube/events.ts'
import type { Log } from '../log.ts'
import { createSyncMirrors, type SyncMirrors } from '../reconcile/mirrors-of-syncs.ts'
import { neededCommits } from '../reconcile/needed-commits.ts'
import { createSecretChanges, type SecretChanges } from '../reconcile/secret-changes.ts'
import { createStore, type Store } from '../reconcile/store.ts'
import type { VolumeFigures } from '../source/mirror/volume.ts'
import { createHostApis, type OpenHostApi } from '../source/host-api.ts'
import { createMirrors } from '../source/mirrors.ts'
import type { Network } from '../source/remote/network.ts'
import { createRemotes, type RemoteOf } from '../source/remotes.ts'
import { type Changes, createChanges } from './cluster/changes.ts'
import { networkOf } from './network.ts'
import { sourceSecretUsers } from './cluster/secret-users.ts'
import { readClusterSecret } from './cluster/secrets.ts'
import { createUnfollowed, type Unfollowed } from './cluster/unfollowed.ts'
import { createPushKeys, type PushKeys } from './serve/webhook-keys.ts'

/** The share of the volume that mirrors may take; the rest is for the file system and for temporary files of git. */
const shareOfVolume = 0.9

/** One of each for every replica. */
export type Parts = {
  /** Publishes each GatewaySync that an observation may concern. */
  changes: Changes
  store: Store
  /** Notices changes of the Secrets that sources need. */
  secrets: SecretChanges
  mirrors: SyncMirrors
  /** How git hosts are reached, and whoever else a GatewaySync or the installation names. */
  network: Network
  /** How the repository of a GatewaySync is reached with given credentials. */
  remoteOf: RemoteOf
  /** The APIs of the git hosts that GatewaySyncs name. */
  hostApi: OpenHostApi
  gate: IsolatedGate
  events: EventRecorder
  keys: PushKeys
  unfollowed: Unfollowed
  /** Writes outstanding Events, and ends the thread of the checks and all processes of git. */
  close(): Promise<void>
}

/** `isListed`: whether all objects of the cluster are known; only then is a commit that none of them names not needed any more. */
export function openParts(
  deps: { kube: Kube; clock: Clock; log: Log; figures: VolumeFigures },
  { settings, identity, apiServerHost }: ControllerConfig,
  isListed: () => boolean,
  signal: AbortSignal,
): Parts {
  const { kube, clock, log, figures } = deps
  const { folder, sizeLimit, allowedHosts, allowLocal } = settings.source
  const changes = createChanges()
  const store = createStore(changes.publish)
  const secrets = createSecretChanges({
    readSecret: readClusterSecret(deps),
    users: () => sourceSecretUsers(store),
    changed: (key) => changes.publish(key, 'other'),
    clock,
  })
  const network = networkOf(settings.source, apiServerHost)
  const gitMirrors = createMirrors({
    folder,
    clock,
    log,
    needed: () => (isListed() ? neededCommits(store) : undefined),
    maxPackBytes: Math.floor(sizeLimit / 2),
    maxBytes: Math.floor(sizeLimit * shareOfVolume),
    network,
    figures,
  })
  const remotes = createRemotes({ allowLocal, allowedHosts, readSecret: secrets.readSecret, network, clock, signal })
  const gate = openIsolatedGate({ clock, log, marks: createMarks(path.join(folder, 'checking.json')) })
  const events = eventRecorder(deps, { component: `${group}/${fieldManager}`, instance: identity })
  return {
    changes,
    store,
    secrets,
    mirrors: createSyncMirrors(gitMirrors, remotes),
    network,
    remoteOf: remotes,
    hostApi: createHostApis({ remoteOf: remotes, readSecret: secrets.readSecret, network, allowedHosts }),
    gate,
    events,
    keys: createPushKeys({ kube, clock }, settings.receiver),
    unfollowed: createUnfollowed({ kube, store, events, clock, log }),
    async close() {
      await events.settled()
      await gate.close()
      await gitMirrors.close()
    },
  }
}
