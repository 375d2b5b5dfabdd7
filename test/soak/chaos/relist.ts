/**
 * Makes everybody list everything, so that each replica compares what its watches told with what is there.
 */
import { gatewaySyncType, podType, syncReportType } from '../../../runtime/kube/types.ts'
import { until } from '../../support/world.ts'
import type { WatchFigures } from './figures.ts'
import type { Soak } from './soak.ts'

/** Open watches of each type, as the API server counts them. */
export type OpenWatches = Record<string, number>

const types = [gatewaySyncType, podType, syncReportType].map(({ plural }) => plural)
const againMs = 1_000

export async function countWatches({ cluster }: Soak): Promise<OpenWatches> {
  const { stdout } = await cluster.world.plane.kubectl(['get', '--raw', '/metrics'])
  return parseWatches(stdout)
}

export function parseWatches(text: string): OpenWatches {
  const open: OpenWatches = Object.fromEntries(types.map((type) => [type, 0]))
  for (const [, labels = '', value = ''] of text.matchAll(/^apiserver_longrunning_requests\{([^}]*)\} (\S+)/gm)) {
    const resource = /(?:^|,)resource="([^"]*)"/.exec(labels)?.[1] ?? ''
    if (labels.includes('verb="WATCH"') && resource in open) open[resource] = (open[resource] ?? 0) + Number(value)
  }
  return open
}

/**
 * Starts the API server anew without a history, and settles when as many watches are open as `usual` and each replica has listed. A watch of
 * somebody whose connection leads nowhere comes back when it was silent for two and a half minutes.
 */
export async function relistAll(soak: Soak, usual: OpenWatches, withinMs: number): Promise<void> {
  const { replicas, read, cluster } = soak
  const figures = async (): Promise<WatchFigures[]> => {
    const all: WatchFigures[] = []
    for (const replica of replicas.all) all.push((await read(replica, '')).figures)
    return all
  }
  const before = await figures()
  await cluster.world.plane.restartApiServer()
  const isBack = async (): Promise<true | undefined> => {
    const open = await countWatches(soak)
    return types.every((type) => (open[type] ?? 0) >= (usual[type] ?? 0)) ? true : undefined
  }
  await until(isBack, 'each watch is open again after a list', withinMs, againMs)
  for (const [index, now] of (await figures()).entries()) {
    for (const type of types) {
      if ((now[type]?.lists ?? 0) <= (before[index]?.[type]?.lists ?? 0))
        throw new Error(`${replicas.all[index]?.name ?? ''} did not list its ${type} although nothing else could be told it`)
    }
  }
}
