/**
 * Keeps the store current: three watches over GatewaySyncs, gateway pods and SyncReports, in all namespaces or in the given ones.
 */
import type { Clock } from '../clock.ts'
import type { Kube } from '../kube/client.ts'
import { runListWatch, type WatchHandlers } from '../kube/list-watch.ts'
import { gatewaySyncType, podType, syncReportType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { projectGatewaySync, projectPod, projectReport, type Store } from '../reconcile/store.ts'

type Deps = { kube: Kube; clock: Clock; log: Log }

/** Ended pods take no part, and the API server need not send them. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed'

/**
 * Of several namespaces one may be gone, and with it the right to look into it: the others do not wait for it longer than this. A role
 * binding that has just been made arrives sooner.
 */
const forbiddenForMs = 30_000

export type Watching = {
  store: Store
  /** Empty: all of the cluster, in one. */
  namespaces: readonly string[]
  /** Called once, when everything has been listed that may be. */
  ready(): void
  /** Tells how many of the namespaces cannot be listed, whenever that changes. */
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
  const handlersOf = (namespace: string | undefined, what: string): ScopeHandlers => {
    const name = `${namespace ?? ''}/${what}`
    const startedMs = deps.clock.monotonicMs()
    waiting.add(name)
    return {
      synced() {
        tell(() => without.delete(name))
        settled(name)
      },
      failed({ reason, message }) {
        const isLate = deps.clock.monotonicMs() - startedMs >= (watching.forbiddenForMs ?? forbiddenForMs)
        // Without a right in the whole cluster nothing works, and saying so is all that is left.
        if (namespace === undefined || !isLate || (reason !== 'Forbidden' && reason !== 'NotFound')) return
        if (!without.has(name)) deps.log.warn({ namespace, reason, message }, 'a watched namespace cannot be listed; the others are served')
        tell(() => without.add(name))
        settled(name)
      },
    }
  }
  await Promise.all(scopes.flatMap((namespace) => watchScope(deps, watching.store, namespace, handlersOf, signal)))
}

type ScopeHandlers = Required<Pick<WatchHandlers<unknown>, 'synced' | 'failed'>>

function watchScope(
  deps: Deps,
  store: Store,
  namespace: string | undefined,
  handlersOf: (namespace: string | undefined, what: string) => ScopeHandlers,
  signal: AbortSignal,
): Promise<void>[] {
  const scope = namespace === undefined ? {} : { namespace }
  return [
    runListWatch(
      deps,
      { type: gatewaySyncType, ...scope, project: projectGatewaySync },
      {
        upsert: (_key, record) => store.upsertSync(record),
        remove: (key) => store.removeSync(key.namespace ?? '', key.name),
        ...handlersOf(namespace, gatewaySyncType.plural),
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: podType, ...scope, fieldSelector: livePods, project: projectPod },
      {
        upsert: (_key, pod) => store.upsertPod(pod),
        remove: (key) => store.removePod(key.namespace ?? '', key.name),
        ...handlersOf(namespace, podType.plural),
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: syncReportType, ...scope, project: projectReport },
      {
        upsert: (_key, report) => store.upsertReport(report),
        remove: (key) => store.removeReport(key.namespace ?? '', key.name),
        ...handlersOf(namespace, syncReportType.plural),
      },
      signal,
    ),
  ]
}
