/**
 * Many GatewaySyncs, reconciled as a controller does, with an API server that takes whatever it is told.
 */
import { systemClock } from '../../runtime/clock.ts'
import { requestAnnotations } from '../../runtime/gatewaysync/names.ts'
import type { GatewaySyncStatus } from '../../runtime/gatewaysync/schema/status.ts'
import { silentLog } from '../../runtime/log.ts'
import { createLookups } from '../../runtime/reconcile/lookups.ts'
import { createQueue } from '../../runtime/reconcile/queue.ts'
import { neededCommits } from '../../runtime/reconcile/needed-commits.ts'
import { reconcile, type ReconcileDeps } from '../../runtime/reconcile/reconcile.ts'
import { createStore } from '../../runtime/reconcile/store.ts'
import type { GatewaySyncRecord } from '../../runtime/reconcile/records.ts'
import { type Network, openNetwork } from '../../runtime/source/remote/network.ts'
import { createMirrors } from '../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../runtime/source/remote/remote.ts'
import type { RemoteOf } from '../../runtime/source/remotes.ts'

export type Followers = {
  /** Asks for the wanted ref, as a push does. */
  request(index: number): void
  /** Waits until each has published a commit. */
  allHave(commit: string, signal: AbortSignal): Promise<void>
  /** Waits until the status of one is as asked. */
  until(index: number, isReached: (status: GatewaySyncStatus) => boolean, signal: AbortSignal): Promise<GatewaySyncStatus>
  status(index: number): GatewaySyncStatus
  stop(): Promise<void>
}

type Options = {
  /** Of the mirrors. */
  folder: string
  /** Of each GatewaySync, as a user writes it. */
  spec(index: number): { git: { repo: string; ref: string } }
  count: number
  /** How the repository is opened; by default without credentials. */
  remoteOf?: RemoteOf
  network?: Network
}

const anonymous: RemoteOf = async (_namespace, { repo }) => anonymousRemote(repo, { allowLocal: true })

export function startFollowers({ folder, spec, count, remoteOf = anonymous, network = openNetwork }: Options): Followers {
  const [clock, log, stop] = [systemClock, silentLog, new AbortController()]
  const store = createStore((key) => queue.add(key))
  const mirrors = createMirrors({ folder, clock, log, network, needed: () => neededCommits(store) })
  const lookups = createLookups({ clock, concurrency: 8, ready: (key) => queue.add(key), signal: stop.signal })
  let version = 0
  let requests = 0
  const deps: ReconcileDeps = {
    store,
    lookups,
    clock,
    log,
    allowLocal: true,
    resolve: async ({ namespace }, { git }, wanted, fresh, signal) =>
      await mirrors.of(await remoteOf(namespace, git, signal)).resolve(wanted.ref, { fresh }, signal),
    async adopt() {},
    verify: async () => ({ kind: 'notAsked' }),
    secretChanges: () => 0,
    check: async () => ({ kind: 'notChecked' }),
    prepareCheck() {},
    delivery: () => undefined,
    writeStatus: async (record, status) => ({ ...record, resourceVersion: String((version += 1)).padStart(9, '0'), status }),
    recordEvents() {},
    observed() {},
    gone() {},
  }
  const queue = createQueue({
    clock,
    workers: 5,
    pass: (key, signal) => reconcile(deps, key, signal),
    failed(_key, error) {
      throw error
    },
  })
  const running = queue.run(stop.signal)
  const put = (record: GatewaySyncRecord): void => store.upsertSync({ ...record, resourceVersion: String((version += 1)).padStart(9, '0') })
  const statusOf = (index: number): GatewaySyncStatus => {
    const record = store.sync('plant', `gs${index}`)
    if (record === undefined) throw new Error(`there is no GatewaySync gs${index}`)
    return record.status
  }
  for (let index = 0; index < count; index += 1) {
    put({
      namespace: 'plant',
      name: `gs${index}`,
      uid: `u${index}`,
      resourceVersion: '',
      generation: 1,
      annotations: {},
      spec: spec(index),
      status: {},
    })
  }
  return {
    request(index) {
      const record = store.sync('plant', `gs${index}`)
      if (record === undefined) throw new Error(`there is no GatewaySync gs${index}`)
      const { ref } = spec(index).git
      const annotations = {
        [requestAnnotations.ref]: ref,
        [requestAnnotations.id]: `r${(requests += 1)}`,
        [requestAnnotations.specRef]: ref,
      }
      put({ ...record, annotations })
    },
    async allHave(commit, signal) {
      while (!store.syncs().every(({ status }) => status.published?.commit === commit)) await clock.wait(20, signal)
    },
    async until(index, isReached, signal) {
      while (!isReached(statusOf(index))) await clock.wait(20, signal)
      return statusOf(index)
    },
    status: statusOf,
    async stop() {
      stop.abort()
      await running
      await lookups.settled()
      await mirrors.close()
    },
  }
}
