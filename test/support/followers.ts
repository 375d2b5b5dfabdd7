/**
 * Many GatewaySyncs, reconciled like in a controller, with an API server that accepts every write.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import { requestAnnotations } from '../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { FairLimiter } from '../../runtime/platform/async/fair-limiter.ts'
import { Resolutions, hostSlots } from '../../runtime/reconcile/source/resolutions.ts'
import { Queue } from '../../runtime/platform/async/queue.ts'
import { neededCommits } from '../../runtime/reconcile/source/needed-commits.ts'
import { reconcile, type ReconcileDeps } from '../../runtime/reconcile/reconcile.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord } from '../../runtime/reconcile/store/records.ts'
import { type Network, openNetwork } from '../../runtime/git/remote/network.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import type { RemoteOf } from '../../runtime/git/remotes.ts'

export type Followers = {
  /** Requests a sync of the desired ref, like a push. */
  request(index: number): void
  /** Waits until each has published the commit. */
  allHave(commit: string, signal: AbortSignal): Promise<void>
  /** Waits until the status of one meets the condition. */
  until(index: number, isReached: (status: GatewaySyncStatus) => boolean, signal: AbortSignal): Promise<GatewaySyncStatus>
  status(index: number): GatewaySyncStatus
  stop(): Promise<void>
}

type Options = {
  /** Of the mirrors. */
  folder: string
  /** The spec of each GatewaySync, as a user writes it. */
  spec(index: number): { git: { repo: string; ref: string } }
  count: number
  /** Opens the repository; by default without credentials. */
  remoteOf?: RemoteOf
  network?: Network
}

const anonymous: RemoteOf = async (_namespace, { repo }) => anonymousRemote(repo, { allowLocal: true })

export function startFollowers({ folder, spec, count, remoteOf = anonymous, network = openNetwork }: Options): Followers {
  const [clock, log, stop] = [systemClock, silentLog, new AbortController()]
  const store = new Store((key) => queue.add(key))
  const mirrors = createMirrors({ folder, clock, log, network, needed: () => neededCommits(store) })
  const resolutions = new Resolutions({
    clock,
    hosts: new FairLimiter({ ...hostSlots, clock }),
    ready: (key) => queue.add(key),
    signal: stop.signal,
  })
  let version = 0
  let requests = 0
  const deps: ReconcileDeps = {
    store,
    resolutions,
    clock,
    log,
    allowLocal: true,
    resolve: async ({ namespace }, { git }, desired, fresh, signal) =>
      await mirrors.of(await remoteOf(namespace, git, signal)).resolve(desired.ref, { fresh }, signal),
    async adopt() {},
    verify: async () => ({ kind: 'notRequired' }),
    secretChanges: () => 0,
    validate: async () => ({ kind: 'notChecked' }),
    prepareValidation() {},
    delivery: () => undefined,
    writeStatus: async (record, status) => ({ ...record, resourceVersion: String((version += 1)).padStart(9, '0'), status }),
    recordEvents() {},
    observed() {},
    deleted() {},
  }
  const queue = new Queue({
    clock,
    workers: 5,
    reconcile: (key, signal) => reconcile(deps, key, signal),
    failed(_key, error) {
      throw error
    },
  })
  const running = queue.run(stop.signal)
  const put = (record: GatewaySyncRecord): boolean =>
    store.upsertSync({ ...record, resourceVersion: String((version += 1)).padStart(9, '0') })
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
      await resolutions.settled()
      await mirrors.close()
    },
  }
}
