/**
 * Reads the GatewaySyncs of other clusters for the page of a hub: one list and watch for each, over its own connections. Never writes to
 * them.
 */
import { readFile } from 'node:fs/promises'
import pLimit from 'p-limit'
import { clusterSync, clusterView } from '../../fleet/cluster-view.ts'
import type { ClusterSync, ClusterView } from '../../fleet/view.ts'
import { createKube, type Kube } from '../../kube/client.ts'
import { runListWatch } from '../../kube/list-watch.ts'
import { remoteKubeconfig } from '../../kube/remote-kubeconfig.ts'
import { AnswerTooLarge, ServerUnreachable } from '../../kube/transport.ts'
import { gatewaySyncType, type KubeObject } from '../../kube/types.ts'
import { type Clock, deadline, pause, timestamp, unlessAborted } from '../../platform/clock.ts'
import { asFault, Fault, isAbort } from '../../platform/fault.ts'
import { type Log, silentLog } from '../../platform/log/log.ts'
import { version } from '../../platform/version.ts'
import { projectGatewaySync } from '../../reconcile/store/records.ts'
import type { ControllerSettings } from '../../settings/controller.ts'

export type ClusterSettings = NonNullable<ControllerSettings['statusPage']>['clusters'][number]

/** GatewaySyncs of all other clusters together, of about 1 KiB each; each cluster has an equal share. */
const maxSyncs = 2_000
/** Objects of a page, and pages read at once by all clusters together: a page takes some of the memory that the own fleet needs. */
const [pageSize, pagesAtOnce] = [25, 2]
/** A GatewaySync is far smaller. That server may be hostile, and an answer of many values takes far more memory than its size. */
const maxAnswerBytes = 2 * 1024 * 1024
const complexity = { depth: 64, keys: 50_000, containers: 50_000, entries: 100_000 }
/** Maximum characters of names, as in Kubernetes, and of versions, for which Kubernetes documents no maximum. */
const maxCharacters = { namespace: 63, name: 253, resourceVersion: 256 }
/** Maximum events per second of a cluster, so that its events leave time for the other work of the controller. */
const eventsPerSecond = 50
/** How often a mounted kubeconfig is read. */
const rereadMs = 5_000
/** How long a watch may be silent before it is reopened: a bookmark comes every minute. */
const silenceMs = 90_000
/** Timeout for the response headers. */
const openTimeoutMs = 10_000
/** Maximum characters of a message of another API server. */
const maxMessage = 300

type Deps = { clock: Clock; log: Log }

/** Without clusters it does nothing. */
export class OtherClusters {
  readonly #clusters: readonly OtherCluster[]
  readonly #viewers = new Set<() => void>()

  constructor(deps: Deps, settings: readonly ClusterSettings[]) {
    const inTurn = pLimit(pagesAtOnce)
    const share = Math.floor(maxSyncs / Math.max(1, settings.length))
    const changed = (): void => {
      for (const viewer of this.#viewers) viewer()
    }
    this.#clusters = settings.map((one) => new OtherCluster({ ...deps, inTurn, share, changed }, one))
  }

  /** Runs until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#clusters.map((cluster) => cluster.run(signal)))
  }

  /** In the order of the settings. */
  views(): ClusterView[] {
    return this.#clusters.map((cluster) => cluster.view())
  }

  /** Calls `changed` whenever a view changes; returns a function that unsubscribes. */
  watch(changed: () => void): () => void {
    this.#viewers.add(changed)
    return () => void this.#viewers.delete(changed)
  }
}

type ClusterDeps = Deps & { inTurn: ReturnType<typeof pLimit>; share: number; changed: () => void }

class OtherCluster {
  readonly #deps: ClusterDeps
  readonly #settings: ClusterSettings
  /** The last complete list, with all changes since. */
  #syncs: ReadonlyMap<string, ClusterSync> = new Map()
  #isListed = false
  #truncated = false
  #seenAt: string | undefined
  #failure: ClusterView['failure']
  /** Consecutive failures. */
  #interruptions = 0

  constructor(deps: ClusterDeps, settings: ClusterSettings) {
    this.#deps = deps
    this.#settings = settings
  }

  view(): ClusterView {
    const { name, url } = this.#settings
    const seenAt = this.#isListed ? this.#seenAt : undefined
    return clusterView({ name, url, syncs: [...this.#syncs.values()], truncated: this.#truncated, seenAt, failure: this.#failure })
  }

  /** Watches with the mounted kubeconfig, and with another one as soon as it is replaced. */
  async run(signal: AbortSignal): Promise<void> {
    let known: string | undefined
    let watching: { stop: AbortController; ended: Promise<void> } | undefined
    while (!signal.aborted) {
      const written = await readFile(this.#settings.kubeconfigFile, 'utf8').catch(() => '')
      if (written !== known) {
        known = written
        watching?.stop.abort()
        await watching?.ended
        const stop = new AbortController()
        watching = { stop, ended: this.#watch(written, AbortSignal.any([signal, stop.signal])) }
      }
      await pause(this.#deps.clock, rereadMs, signal)
    }
    await watching?.ended
  }

  async #watch(written: string, signal: AbortSignal): Promise<void> {
    try {
      if (written.trim() === '')
        throw new Fault('SecretNotFound', 'its kubeconfig is missing: check the Secret and key in statusPage.clusters')
      const config = await remoteKubeconfig(written)
      const { clock } = this.#deps
      const kube = createKube(config, { clock, userAgent: `cluster-sync-hub/${version}`, connections: 2, maxAnswerBytes, complexity })
      try {
        const { inTurn, share } = this.#deps
        const listing = (): void => void (this.#truncated = false)
        await this.#follow(observed(kube, { clock, inTurn, share, listing, seen: () => this.#seen() }), signal)
      } finally {
        kube.close()
      }
    } catch (error) {
      if (!isAbort(error, signal)) this.#failed(asFault(error))
    }
  }

  async #follow(kube: Kube, signal: AbortSignal): Promise<void> {
    const { clock, share, changed } = this.#deps
    const syncs = new Map<string, ClusterSync>()
    // Its failures are logged here, once each, with the name of the cluster.
    await runListWatch(
      { kube, clock, log: silentLog, silenceMs },
      { type: gatewaySyncType, project: (object: KubeObject) => clusterSync(projectGatewaySync(object)) },
      {
        upsert: ({ namespace = '', name }, sync) => {
          const key = `${namespace}/${name}`
          if (syncs.size >= share && !syncs.has(key)) {
            this.#truncated = true
            return false
          }
          syncs.set(key, sync)
          if (this.#syncs === syncs) changed()
          return true
        },
        remove: ({ namespace = '', name }) => {
          syncs.delete(`${namespace}/${name}`)
          changed()
        },
        synced: () => {
          this.#syncs = syncs
          this.#isListed = true
          changed()
        },
        failed: (fault) => this.#interrupted(fault),
      },
      signal,
    )
  }

  #seen(): void {
    const { clock, log, changed } = this.#deps
    this.#seenAt = timestamp(clock.now())
    this.#interruptions = 0
    if (this.#failure === undefined) return
    this.#failure = undefined
    log.info({ component: 'status-page', name: this.#settings.name }, 'another cluster can be read again')
    changed()
  }

  /** A watch that a proxy cuts is opened again within a second, and an expired version leads to a new list. Neither is logged. */
  #interrupted(fault: Fault): void {
    this.#interruptions += 1
    if (fault.reason !== 'Conflict' && (this.#interruptions > 1 || !this.#isListed)) this.#failed(fault)
  }

  #failed({ reason, message }: Fault): void {
    const { log, changed } = this.#deps
    if (this.#failure?.reason !== reason)
      log.warn({ component: 'status-page', name: this.#settings.name, reason, message }, 'another cluster cannot be read')
    this.#failure = { reason, message: message.slice(0, maxMessage) }
    changed()
  }
}

type Observer = Pick<ClusterDeps, 'clock' | 'inTurn' | 'share'> & {
  /** A list begins. */
  listing(): void
  /** The API server has answered. */
  seen(): void
}

/** The same client, whose lists are read in small pages, in turn with the other clusters, and no further than the share. */
function observed(kube: Kube, { clock, inTurn, share, listing, seen }: Observer): Kube {
  return {
    ...kube,
    async *listPages(type, options, signal) {
      await requireAnswer(kube, signal)
      listing()
      const pages = kube.listPages(type, { ...options, limit: pageSize }, signal)[Symbol.asyncIterator]()
      let listed = 0
      while (listed <= share) {
        const page = await unlessAborted(
          inTurn(() => pages.next()),
          signal,
        )
        if (page.done === true) return
        listed += page.value.items.length
        for (const { metadata } of [{ metadata: { resourceVersion: page.value.resourceVersion } }, ...page.value.items])
          requireShort(metadata)
        seen()
        yield page.value
      }
    },
    async *watch(type, options, signal) {
      let isOpen = false
      const pace = createPace(clock, signal)
      const late = new AbortController()
      deadline(openTimeoutMs).addEventListener('abort', () => isOpen || late.abort(), { once: true })
      const opened = (): void => {
        isOpen = true
        seen()
      }
      try {
        for await (const event of kube.watch(type, { ...options, opened }, AbortSignal.any([signal, late.signal]))) {
          if (event.type !== 'ERROR') requireShort(event.object.metadata)
          seen()
          await pace()
          yield event
        }
      } catch (error) {
        if (late.signal.aborted && !signal.aborted) throw new ServerUnreachable(`no answer within ${openTimeoutMs / 1000} s`, error)
        throw error
      }
    },
  }
}

/** Throws AnswerTooLarge for names that no API server accepts: they would be kept. They may have any type, because that server may be hostile. */
function requireShort(metadata: Partial<Record<keyof typeof maxCharacters, unknown>>): void {
  for (const key of ['namespace', 'name', 'resourceVersion'] as const) {
    const value = metadata[key] ?? ''
    if (typeof value !== 'string') throw new AnswerTooLarge(`metadata.${key} is not text`)
    if (value.length > maxCharacters[key])
      throw new AnswerTooLarge(`metadata.${key} has ${value.length} of at most ${maxCharacters[key]} characters`)
  }
}

/** Returns a function that waits as soon as it is called more often than `eventsPerSecond`. */
function createPace(clock: Clock, signal: AbortSignal): () => Promise<void> {
  let [calls, sinceMs] = [0, clock.monotonicMs()]
  return async () => {
    calls += 1
    if (calls < eventsPerSecond) return
    await pause(clock, Math.max(0, sinceMs + 1000 - clock.monotonicMs()), signal)
    ;[calls, sinceMs] = [0, clock.monotonicMs()]
  }
}

/** A cluster that does not answer must not take the turn of another. Any answer will do: the permission to read versions is not needed. */
async function requireAnswer(kube: Pick<Kube, 'requireVersion'>, signal: AbortSignal): Promise<void> {
  const stop = deadline(openTimeoutMs, signal)
  try {
    await kube.requireVersion(stop)
  } catch (error) {
    signal.throwIfAborted()
    if (stop.aborted) throw new ServerUnreachable(`no answer within ${openTimeoutMs / 1000} s`, error)
    if (error instanceof ServerUnreachable) throw error
  }
}
