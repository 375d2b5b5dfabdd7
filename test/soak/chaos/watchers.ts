/**
 * The view of the product's list-watch over connections that are cut, dropped and answered with 410, compared with the history in etcd.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { createKube, type Kube, loadKube } from '../../../runtime/kube/client.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { gatewaySyncType, podType, type ResourceType, syncReportType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { compareVersions, type Told } from './versions.ts'
import { startWitness, type Witness } from './witness.ts'

/** `namespace`: all namespaces if undefined. */
type Watching = { types: readonly ResourceType[]; namespace?: string }

const everything: Watching = { types: [gatewaySyncType, podType, syncReportType] }

export type Watchers = {
  /** The number of lists, and of versions received by watches in between. */
  watched(): { lists: number; versions: number }
  /** The number of interruptions by fault reason. */
  interrupted(): Readonly<Record<string, number>>
  /** Differences between received and actual versions, and doubts about the history; empty if nothing was missed. */
  missed(): Promise<string[]>
  stop(): Promise<void>
}

/** `kubeconfig` connects through the disturbed proxies. */
export async function startWatchers(kubeconfig: string, etcdUrl: string, watching = everything): Promise<Watchers> {
  const { types, namespace } = watching
  const kube = createKube(loadKube({ kubeconfig }), { clock: systemClock, userAgent: 'soak-watchers' })
  const interrupted: Record<string, number> = {}
  const failed = (reason: string): void => void (interrupted[reason] = (interrupted[reason] ?? 0) + 1)
  const within = namespace === undefined ? {} : { namespace }
  const watchers: Watcher[] = []
  for (const type of types) watchers.push(follow(kube, { type, ...within }, await startWitness(etcdUrl, type, namespace), failed))
  const compared = () => watchers.map(({ witness, told }) => compareVersions(witness.happened, told))
  return {
    interrupted: () => interrupted,
    watched() {
      const all = compared()
      const sum = (of: 'lists' | 'watched'): number => all.reduce((whole, one) => whole + one[of], 0)
      return { lists: sum('lists'), versions: sum('watched') }
    },
    async missed() {
      const caveats = await Promise.all(watchers.map(({ witness }) => witness.caveats()))
      return [...caveats.flat(), ...compared().flatMap(({ wrong }, index) => wrong.map((text) => `${types[index]?.plural ?? ''}: ${text}`))]
    },
    async stop() {
      await Promise.all(watchers.map((watcher) => watcher.stop()))
      kube.close()
    },
  }
}

type Watcher = { witness: Witness; told: readonly Told[]; stop(): Promise<void> }

function follow(kube: Kube, of: { type: ResourceType; namespace?: string }, witness: Witness, failed: (reason: string) => void): Watcher {
  const told: Told[] = []
  const stop = new AbortController()
  let listed = 0
  /** Records when a list begins and its revision, which a list-watch consumer does not receive. */
  const noting: Kube = {
    ...kube,
    async *listPages(...args) {
      told.push({ is: 'listing' })
      let isFirst = true
      for await (const page of kube.listPages(...args)) {
        if (isFirst) listed = Number(page.resourceVersion)
        isFirst = false
        yield page
      }
    },
  }
  const running = runListWatch(
    { kube: noting, clock: systemClock, log: silentLog },
    { ...of, project: ({ metadata }) => Number(metadata.resourceVersion) },
    {
      upsert: ({ namespace, name }, revision) => void told.push({ is: 'put', key: `${namespace}/${name}`, revision }),
      remove: ({ namespace, name }) => void told.push({ is: 'gone', key: `${namespace}/${name}` }),
      synced: () => void told.push({ is: 'listed', revision: listed }),
      failed: ({ reason }) => failed(reason),
    },
    stop.signal,
  )
  return {
    witness,
    told,
    async stop() {
      stop.abort(new Error('the soak is over'))
      await Promise.all([running, witness.stop()])
    },
  }
}
