/**
 * Makes all clients list everything, so that each replica compares its watched state with the actual one.
 */
import { gatewaySyncType, podType, syncReportType } from '../../../runtime/kube/types.ts'
import { until } from '../../support/world.ts'
import type { Reading } from './violations.ts'
import type { Soak } from './soak.ts'

/** Open watches of each type, as counted by the API server. */
export type OpenWatches = Record<string, number>

/** The watch metrics of a replica. */
export type ReplicaFigures = Pick<Reading, 'replica' | 'figures'>

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
 * Restarts the API server without its history, and resolves when as many watches are open as `usual` and each replica has listed each type.
 * A watch on a dead connection returns after two and a half minutes of silence.
 */
export async function relistAll(soak: Soak, usual: OpenWatches, withinMs: number): Promise<void> {
  const { replicas, read, cluster } = soak
  const figures = async (): Promise<ReplicaFigures[]> => {
    const all: ReplicaFigures[] = []
    for (const replica of replicas.all) all.push({ replica: replica.name, figures: (await read(replica, '')).figures })
    return all
  }
  const before = await figures()
  await cluster.world.plane.restartApiServer()
  let missing: string[] = []
  const isBack = async (): Promise<true | undefined> => {
    const open = await countWatches(soak)
    // The count may be complete while one replica's watch is missing: a reconnecting watch may have been counted twice.
    missing = [
      ...types.filter((type) => (open[type] ?? 0) < (usual[type] ?? 0)).map((type) => `${open[type]} of ${usual[type]} watches of ${type}`),
      ...notListed(before, await figures()),
    ]
    return missing.length === 0 ? true : undefined
  }
  await until(isBack, 'each watch is open again, and each replica has listed', withinMs, againMs).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}; at last: ${missing.join(', ')}`, { cause: error })
  })
}

/** The replicas that have not listed some types since `before`, although only a list could give them the current state. */
export function notListed(before: readonly ReplicaFigures[], now: readonly ReplicaFigures[]): string[] {
  return now.flatMap(({ replica, figures }) => {
    const earlier = before.find((one) => one.replica === replica)?.figures
    return types
      .filter((type) => (figures[type]?.lists ?? 0) <= (earlier?.[type]?.lists ?? 0))
      .map((type) => `${replica} has not listed its ${type}`)
  })
}
