/**
 * Keeps the store current: watches GatewaySyncs, their pods and SyncReports, in all or the given namespaces.
 */
import type { Clock } from '../../platform/clock.ts'
import type { ReportBounds } from '../../reconcile/decide/report-details.ts'
import { type LabelSelector, selects } from '../../api/label-selector.ts'
import type { Kube } from '../../kube/client.ts'
import { type ListWatchDeps, runListWatch, type WatchFigures, type WatchHandlers } from '../../kube/list-watch.ts'
import { gatewaySyncType, type KubeObject, type ObjectKey, podType, syncReportType } from '../../kube/types.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Store } from '../../reconcile/store/store.ts'
import { type GatewaySyncRecord, projectGatewaySync, projectPod, projectReport } from '../../reconcile/store/records.ts'
import { PodScopes, type PodsListed } from './pod-scopes.ts'

type Deps = { kube: Kube; clock: Clock; log: Log; observe?: WatchFigures }

/** Excludes completed pods at the API server. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed'

/**
 * One of several namespaces may be deleted, and with it the permission to list it: the others wait no longer than this. A new role binding
 * takes effect sooner.
 */
const forbiddenForMs = 30_000

/**
 * Longest retry delays. There are few controllers, and pushes wait for them, so they may retry soon after the API server returns. A missing
 * permission is not expected back soon, and each attempt is logged.
 */
const waits = { longestRetryMs: 5_000, longestForbiddenMs: 30_000 }

/** What to watch, and the callbacks. */
export type Watching = {
  store: Store
  /** Empty: the whole cluster, with one watch. */
  namespaces: readonly string[]
  /** GatewaySyncs that it does not match belong to another installation. Default: all match. */
  selector?: LabelSelector
  /** How much display detail of reports to keep. Default: none. */
  details?: ReportBounds
  /** Called once, when everything permitted has been listed. */
  ready(): void
  /** Called with the number of namespaces that cannot be listed, on each change. */
  forbidden?(count: number): void
  forbiddenForMs?: number
}

/** Runs until `signal` aborts. */
export async function watchCluster(deps: Deps, watching: Watching, signal: AbortSignal): Promise<void> {
  const { namespaces, ready } = watching
  const scopes: (string | undefined)[] = namespaces.length === 0 ? [undefined] : [...namespaces]
  const waiting = new Set<string>()
  const without = new Set<string>()
  const settled = (name: string): void => {
    if (waiting.delete(name) && waiting.size === 0) ready()
  }
  const warnOfChange = (change: () => void): void => {
    const before = without.size
    change()
    if (without.size !== before) watching.forbidden?.(new Set([...without].map((name) => name.split('/')[0])).size)
  }
  const handlersOf = (scope: string | undefined, name: string): ScopeHandlers => {
    const startedMs = deps.clock.monotonicMs()
    waiting.add(name)
    return {
      synced() {
        warnOfChange(() => without.delete(name))
        settled(name)
      },
      failed({ reason, message }) {
        const isLate = deps.clock.monotonicMs() - startedMs >= (watching.forbiddenForMs ?? forbiddenForMs)
        // Without permission to list the whole cluster nothing works; the replica stays unready.
        if (scope === undefined || !isLate || (reason !== 'Forbidden' && reason !== 'NotFound')) return
        if (!without.has(name))
          deps.log.warn({ namespace: scope, reason, message }, 'a watched namespace cannot be listed; the others are served')
        warnOfChange(() => without.add(name))
        settled(name)
      },
    }
  }
  await Promise.all(scopes.map((scope) => watchScope({ ...deps, ...waits }, watching, scope, handlersOf, signal)))
}

type ScopeHandlers = Required<Pick<WatchHandlers<unknown>, 'synced' | 'failed'>>

async function watchScope(
  deps: ListWatchDeps,
  { store, selector, details }: Watching,
  scope: string | undefined,
  handlersOf: (scope: string | undefined, name: string) => ScopeHandlers,
  signal: AbortSignal,
): Promise<void> {
  const within = scope === undefined ? {} : { namespace: scope }
  const running = new Set<Promise<void>>()
  const pods = new PodScopes(
    {
      store,
      watch(namespace, listed, own) {
        const handlers = handlersOf(scope, `${namespace ?? scope ?? ''}/${podType.plural}`)
        const work: Promise<void> = watchPods(deps, store, namespace ?? scope, { handlers, listed }, own).finally(() => {
          running.delete(work)
          // This watch was replaced, so nothing waits for it.
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
          return record === 'other' ? pods.upsertOther(namespace, name) : pods.upsertSync(record)
        },
        remove: (key) => pods.removeSync(key.namespace ?? '', key.name),
        ...syncs,
        synced() {
          // From now on the namespaces whose pods must be listed are known.
          pods.syncsListed()
          syncs.synced()
        },
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: syncReportType, ...within, project: (object) => projectReport(object, details) },
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

/** `other` for a GatewaySync of another installation; only its name matters. */
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
  let present: Set<string> | undefined = new Set()
  await runListWatch(
    deps,
    { type: podType, ...(namespace === undefined ? {} : { namespace }), fieldSelector: livePods, project: projectPod },
    {
      upsert(key, pod) {
        const isKept = store.upsertPod(pod)
        if (isKept) present?.add(idOf(key))
        return isKept
      },
      remove: (key) => store.removePod(key.namespace ?? '', key.name),
      ...handlers,
      synced() {
        const first = present
        present = undefined
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
