/**
 * A connection for a command that asks for something and waits for what becomes of it, until somebody has seen enough.
 */
import { stopSignal } from '../stop.ts'
import { type Cluster, inCluster } from './cluster.ts'
import { exitYes } from './exit.ts'
import type { ClusterOptions } from './options.ts'

export type Asking = Cluster & { signal: AbortSignal }

/** Returns the exit code: that of `work`, or 0 when Ctrl-C or SIGTERM ended it. Throws what `work` throws, refusals in plain words. */
export async function asking(options: ClusterOptions, work: (cluster: Asking) => Promise<number>): Promise<number> {
  const signal = stopSignal()
  try {
    return await inCluster(options, async (cluster) => await work({ ...cluster, signal }))
  } catch (error) {
    if (!signal.aborted) throw error
    process.stderr.write('cluster-sync: stopped before the outcome was known; "cluster-sync status" shows it\n')
    return exitYes
  }
}
