/**
 * What a list-watch of the product makes of the cluster over connections that are cut, forgotten and told 410, beside what etcd wrote.
 */
import { systemClock } from '../../../runtime/clock.ts'
import { createKube, type Kube, loadKube } from '../../../runtime/kube/client.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { gatewaySyncType, podType, type ResourceType, syncReportType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/log.ts'
import { compareVersions, type Told } from './versions.ts'
import { startWitness, type Witness } from './witness.ts'

/** `namespace`: without it everything is watched. */
type Watching = { types: readonly ResourceType[]; namespace?: string }

const everything: Watching = { types: [gatewaySyncType, podType, syncReportType] }

export type Watchers = {
  /** How often everything was listed, and how many versions were told by watches between. */
  watched(): { lists: number; versions: number }
  /** How often the watches were interrupted, by the reason of the fault. */
  interrupted(): Readonly<Record<string, number>>
  /** Where what was told differs from what happened, and why what happened is not known; empty when nothing was missed. */
  missed(): Promise<string[]>
  stop(): Promise<void>
}

/** `kubeconfig` leads over the connections that are meddled with. */
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
      const doubts = await Promise.all(watchers.map(({ witness }) => witness.doubts()))
      return [...doubts.flat(), ...compared().flatMap(({ wrong }, index) => wrong.map((text) => `${types[index]?.plural ?? ''}: ${text}`))]
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
  /** Notes when a list begins and of which revision it is, which the consumer of a list-watch is not told. */
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
