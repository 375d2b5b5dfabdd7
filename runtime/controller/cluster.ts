/**
 * Keeps the store current: three watches over GatewaySyncs, gateway pods and SyncReports, in all namespaces or in the given ones.
 */
import type { Clock } from '../clock.ts'
import type { Kube } from '../kube/client.ts'
import { runListWatch } from '../kube/list-watch.ts'
import { gatewaySyncType, podType, syncReportType } from '../kube/types.ts'
import type { Log } from '../log.ts'
import { projectGatewaySync, projectPod, projectReport, type Store } from '../reconcile/store.ts'

type Deps = { kube: Kube; clock: Clock; log: Log }

/** Ended pods take no part, and the API server need not send them. */
const livePods = 'status.phase!=Succeeded,status.phase!=Failed'

/** Runs until the signal; `ready` is called once when everything has been listed. */
export async function watchCluster(
  deps: Deps,
  { store, namespaces, ready }: { store: Store; namespaces: readonly string[]; ready: () => void },
  signal: AbortSignal,
): Promise<void> {
  const scopes: (string | undefined)[] = namespaces.length === 0 ? [undefined] : [...namespaces]
  let waiting = scopes.length * 3
  const synced = (): void => {
    waiting -= 1
    if (waiting === 0) ready()
  }
  await Promise.all(scopes.flatMap((namespace) => watchScope(deps, store, namespace, synced, signal)))
}

function watchScope(deps: Deps, store: Store, namespace: string | undefined, synced: () => void, signal: AbortSignal): Promise<void>[] {
  const scope = namespace === undefined ? {} : { namespace }
  const once = (): (() => void) => {
    let told = false
    return () => {
      if (!told) synced()
      told = true
    }
  }
  return [
    runListWatch(
      deps,
      { type: gatewaySyncType, ...scope, project: projectGatewaySync },
      {
        upsert: (_key, record) => store.upsertSync(record),
        remove: (key) => store.removeSync(key.namespace ?? '', key.name),
        synced: once(),
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: podType, ...scope, fieldSelector: livePods, project: projectPod },
      {
        upsert: (_key, pod) => store.upsertPod(pod),
        remove: (key) => store.removePod(key.namespace ?? '', key.name),
        synced: once(),
      },
      signal,
    ),
    runListWatch(
      deps,
      { type: syncReportType, ...scope, project: projectReport },
      {
        upsert: (_key, report) => store.upsertReport(report),
        remove: (key) => store.removeReport(key.namespace ?? '', key.name),
        synced: once(),
      },
      signal,
    ),
  ]
}
