/**
 * Gives back what a quiet controller does not need. V8 collects when much is allocated; so what a start or a push has left behind stays for as
 * long as nothing happens, in pages of which half is empty.
 */
import { cpuUsage } from 'node:process'
import { type Clock, pause } from '../clock.ts'
import { heapAndBuffers } from '../memory.ts'

const lookEachMs = 15_000
/** Of one processor, all threads together; at rest it is a hundredth. */
const quietShare = 0.05
/** A collection takes some 100 ms at a thousand GatewaySyncs, in which nobody is answered. */
const leastMs = 300_000
const leastLeftBytes = 2 * 1024 * 1024

export type Collector = {
  usedBytes(): number
  /** Processor time since the last call, or the start; not that of git. */
  busyMs(): number
  collect(): void
}

type Deps = {
  clock: Pick<Clock, 'wait' | 'monotonicMs'>
  /** How many threads have ended: V8 gives the pages of each back with the next collection of the process. */
  endedThreads(): number
}

/** Runs until the signal. `collector` is undefined where the process was started without `--expose-gc`, as the image is. */
export async function reclaimMemory(
  { clock, endedThreads }: Deps,
  signal: AbortSignal,
  collector: Collector | undefined = openCollector(globalThis.gc),
): Promise<void> {
  if (collector === undefined) return
  let collected: { atMs: number; leftBytes: number; threads: number } | undefined
  while (!signal.aborted) {
    await pause(clock, lookEachMs, signal)
    if (signal.aborted || collector.busyMs() > lookEachMs * quietShare) continue
    const isSoon = collected !== undefined && clock.monotonicMs() - collected.atMs < leastMs
    const threads = endedThreads()
    const isWorthIt = collected?.threads !== threads || collector.usedBytes() - collected.leftBytes >= leastLeftBytes
    if (isSoon || !isWorthIt) continue
    collector.collect()
    collected = { atMs: clock.monotonicMs(), leftBytes: collector.usedBytes(), threads }
  }
}

function openCollector(gc: typeof globalThis.gc): Collector | undefined {
  if (gc === undefined) return undefined
  let beforeMs = 0
  return {
    usedBytes: heapAndBuffers,
    busyMs() {
      const { user, system } = cpuUsage()
      const nowMs = (user + system) / 1000
      const ms = nowMs - beforeMs
      beforeMs = nowMs
      return ms
    },
    // Also drops code that has not run for a while, and moves what is left together.
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  }
}
