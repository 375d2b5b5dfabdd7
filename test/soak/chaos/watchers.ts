/**
 * What a list-watch that is cut, forgotten and told 410 makes of the cluster, beside what a list says in the end.
 */
import { systemClock } from '../../../runtime/clock.ts'
import { createKube, type Kube, loadKube } from '../../../runtime/kube/client.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { gatewaySyncType, podType, type ResourceType, syncReportType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/log.ts'

const types: readonly ResourceType[] = [gatewaySyncType, podType, syncReportType]

export type Watchers = {
  /** How often everything was listed, and which faults were met, by reason. */
  counts(): Record<string, number>
  /** What differs from a list that is made now; empty when nothing was missed. */
  missed(): Promise<string[]>
  stop(): Promise<void>
}

/** `kubeconfig` leads over the connections that are meddled with, `direct` tells the truth. */
export function startWatchers(kubeconfig: string, direct: Kube, signal: AbortSignal): Watchers {
  const kube = createKube(loadKube({ kubeconfig }), { clock: systemClock, userAgent: 'soak-watchers' })
  const stop = new AbortController()
  const counts: Record<string, number> = {}
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1)
  const known = types.map(() => new Map<string, string>())
  const running = types.map((type, index) =>
    runListWatch(
      { kube, clock: systemClock, log: silentLog },
      { type, project: ({ metadata }) => metadata.resourceVersion },
      {
        upsert: ({ namespace, name }, version) => void known[index]?.set(`${namespace}/${name}`, version),
        remove: ({ namespace, name }) => void known[index]?.delete(`${namespace}/${name}`),
        synced: () => count('lists'),
        failed: ({ reason }) => count(reason),
      },
      stop.signal,
    ),
  )
  return {
    counts: () => counts,
    async missed() {
      const wrong: string[] = []
      for (const [index, type] of types.entries()) {
        const left = new Map(known[index])
        for await (const { items } of direct.listPages(type, {}, signal)) {
          for (const { metadata } of items) {
            const key = `${metadata.namespace}/${metadata.name}`
            const version = left.get(key)
            left.delete(key)
            if (version !== metadata.resourceVersion)
              wrong.push(`${type.plural} ${key}: ${version ?? 'not known'}, is ${metadata.resourceVersion}`)
          }
        }
        for (const key of left.keys()) wrong.push(`${type.plural} ${key} is gone, and known`)
      }
      return wrong
    },
    async stop() {
      stop.abort(new Error('the soak is over'))
      await Promise.all(running)
      kube.close()
    },
  }
}
