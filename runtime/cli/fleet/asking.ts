/**
 * A connection for a command that asks for something and waits for what becomes of it, until somebody has seen enough.
 */
import { workSignal } from '../stop.ts'
import { type Cluster, inCluster } from './cluster.ts'
import { exitUnknown } from './exit.ts'
import type { ClusterOptions } from './options.ts'

/** The signal is aborted when somebody interrupts the command. */
export type Asking = Cluster & { signal: AbortSignal }

/**
 * Returns the exit code of `work`; a process that Ctrl-C or SIGTERM stops says so and ends by the signal. Throws what `work` throws, refusals
 * in plain words.
 */
export async function asking(options: ClusterOptions, work: (cluster: Asking) => Promise<number>): Promise<number> {
  const signal = workSignal()
  try {
    return await inCluster(options, async (cluster) => await work({ ...cluster, signal }))
  } catch (error) {
    if (!signal.aborted) throw error
    process.stderr.write('cluster-sync: stopped before the outcome was known; "cluster-sync status" shows it\n')
    return exitUnknown
  }
}
