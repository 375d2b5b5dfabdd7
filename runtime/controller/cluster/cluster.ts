/**
 * Keeps the store current: watches over GatewaySyncs, the pods beside them and SyncReports, in all namespaces or in the given ones.
 */
import type { Clock } from '../../clock.ts'
import type { ToldBounds } from '../../gatewaysync/decide/told.ts'
import { type LabelSelector, selects } from '../../gatewaysync/label-selector.ts'
import type { Kube } from '../../kube/client.ts'
import { type ListWatchDeps, runListWatch, type WatchFigures, type WatchHandlers } from '../../kube/list-watch.ts'
import { gatewaySyncType, type KubeObject, type ObjectKey, podType, syncReportType } from '../../kube/types.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../reconcile/store.ts'
import { type GatewaySyncRecord, projectGatewaySync, projectPod, projectReport } from '../../reconcile/records.ts'
import { createPodScopes, type PodsListed } from './pod-scopes.ts'

type Deps = { kube: Kube; clock: Clock; log: Log; observe?: WatchFigures }

/** Excludes ended pods, so that the API server does not even send them. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed'

/**
 * One of several namespaces may be gone, and with it the right to list it: the others wait for it no longer than this. A role binding that has
 * just been created takes effect sooner.
 */
const forbiddenForMs = 30_000

/**
 * The longest waits between tries. Controllers are few, and pushes wait for them: they may come soon after the API server is back. A right to
 * list that is missing is not expected back soon, and each try is logged.
 */
const waits = { longestRetryMs: 5_000, longestForbiddenMs: 30_000 }

/** What is watched, and who hears of it. */
export type Watching = {
  store: Store
  /** Empty: the whole cluster, by one watch. */
  namespaces: readonly string[]
  /** GatewaySyncs that it does not match belong to another installation. Default: all are ours. */
  selector?: LabelSelector
  /** How much is kept of what only people read in reports. Default: nothing. */
  told?: ToldBounds
  /** Called once, when everything that we may list has been listed. */
  ready(): void
  /** Called with the number of namespaces that cannot be listed, whenever that changes. */
  forbidden?(count: number): void
  forbiddenForMs?: number
}

/** Runs until the signal. */
export async function watchCluster(deps: Deps, watching: Watching, signal: AbortSignal): Promise<void> {
  const { namespaces, ready } = watching
  const scopes: (string | undefined)[] = namespaces.length === 0 ? [undefined] : [...namespaces]
  const waiting = new Set<string>()
  const without = new Set<string>()
  const settled = (name: string): void => {
    if (waiting.delete(name) && waiting.size === 0) ready()
  }
  const tell = (change: () => void): void => {
    const before = without.size
    change()
    if (without.size !== before) watching.forbidden?.(new Set([...without].map((name) => name.split('/')[0])).size)
  }
  const handlersOf = (scope: string | undefined, name: string): ScopeHandlers => {
    const startedMs = deps.clock.monotonicMs()
    waiting.add(name)
    return {
      synced() {
        tell(() => without.delete(name))
        settled(name)
      },
      failed({ reason, message }) {
        const isLate = deps.clock.monotonicMs() - startedMs >= (watching.forbiddenForMs ?? forbiddenForMs)
        // Without the right to list the whole cluster nothing works; staying unready shows it.
        if (scope === undefined || !isLate || (reason !== 'Forbidden' && reason !== 'NotFound')) return
        if (!without.has(name))
          deps.log.warn({ namespace: scope, reason, message }, 'a watched namespace cannot be listed; the others are served')
        tell(() => without.add(name))
        settled(name)
      },
    }
  }
  await Promise.all(scopes.map((scope) => watchScope({ ...deps, ...waits }, watching, scope, handlersOf, signal)))
}

type ScopeHandlers = Required<Pick<WatchHandlers<unknown>, 'synced' | 'failed'>>

async function watchScope(
  deps: ListWatchDeps,
  { store, selector, told }: Watching,
  scope: string | undefined,
  handlersOf: (scope: string | undefined, name: string) => ScopeHandlers,
  signal: AbortSignal,
): Promise<void> {
  const within = scope === undefined ? {} : { namespace: scope }
  const running = new Set<Promise<void>>()
  const pods = createPodScopes(
    {
      store,
      watch(namespace, listed, own) {
        const handlers = handlersOf(scope, `${namespace ?? scope ?? ''}/${podType.plural}`)
        const work: Promise<void> = watchPods(deps, store, namespace ?? scope, { handlers, listed }, own).finally(() => {
          running.delete(work)
          // This watch was replaced by another one, so nobody waits for it any more.
          handlers.synced()
        })
        running.add(work)
      },
    },
    signal,
  )
  const syncs = handlersOf(scope, `${scope ?? ''}/${gatewaySyncType.plural}`)
  const reports = handlersOf(scope, `${scope ?? ''}/${syncReportType.plural}`)
  await Promise.all([
    runListWatch(
      deps,
      { type: gatewaySyncType, ...within, project: (object) => projectOurs(object, selector) },
      {
        upsert({ namespace = '', name }, record) {
          if (record === 'other') pods.upsertOther(namespace, name)
          else pods.upsertSync(record)
        },
        remove: (key) => pods.removeSync(key.namespace ?? '', key.name),
        ...syncs,
        synced() {
          // From here on it is known in which namespaces pods must be listed.
          pods.syncsListed()
          syncs.synced()
        },
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: syncReportType, ...within, project: (object) => projectReport(object, told) },
      {
        upsert: (_key, report) => store.upsertReport(report),
        remove: (key) => store.removeReport(key.namespace ?? '', key.name),
        ...reports,
      },
      signal,
    ),
  ])
  await Promise.all(running)
}

/** `other` for a GatewaySync of another installation, of which only the name matters. */
function projectOurs(object: KubeObject, selector: LabelSelector | undefined): GatewaySyncRecord | 'other' {
  return selector === undefined || selects(selector, object.metadata.labels ?? {}) ? projectGatewaySync(object) : 'other'
}

async function watchPods(
  deps: ListWatchDeps,
  store: Store,
  namespace: string | undefined,
  { handlers, listed }: { handlers: ScopeHandlers; listed: PodsListed },
  signal: AbortSignal,
): Promise<void> {
  /** Ids in the first list; undefined once it is complete. */
  let told: Set<string> | undefined = new Set()
  await runListWatch(
    deps,
    { type: podType, ...(namespace === undefined ? {} : { namespace }), fieldSelector: livePods, project: projectPod },
    {
      upsert(key, pod) {
        told?.add(idOf(key))
        store.upsertPod(pod)
      },
      remove: (key) => store.removePod(key.namespace ?? '', key.name),
      ...handlers,
      synced() {
        const first = told
        told = undefined
        if (first !== undefined) listed((pod) => first.has(idOf(pod)))
        handlers.synced()
      },
    },
    signal,
  )
}

function idOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`
}
