/**
 * Returns memory that a quiet controller does not need, and what one whose container is full can do without. V8 collects garbage only when much
 * is allocated, so what a start or a push has left behind stays as long as nothing happens, in pages that are half empty. It knows nothing of
 * the container: when the process holds most of its memory, the kernel drops pages of Node's own program and reads them again from the disk,
 * hundreds a second, and a controller with hundreds of GatewaySyncs does little else.
 */
import { cpuUsage, resourceUsage } from 'node:process'
import { type Clock, pause } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { heapAndBuffers } from '../../memory.ts'

/**
 * After the lists have come: a leader has gone through all that they hold by then, and its first git starts, which needs room. Later, what they
 * left would fill the container, and the kernel would take pages of programs for used that are not.
 */
const startMs = 300
const lookEachMs = 5_000
/** So many pages read from the disk since the last look: what the process holds leaves too little room for programs. A collection costs less. */
const pressedFaults = 100
/** Least time between two collections under such pressure. */
const leastPressedMs = 10_000
/** Pressed in so many looks one after the other, a minute, it is said in the log; not again within `leastToldMs`. */
const looksUntilTold = 12
const leastToldMs = 3_600_000
/** The controller counts as quiet below this share of one processor, over all threads; at rest a thousand GatewaySyncs take up to a tenth. */
const quietShare = 0.15
/** Least time between two collections: with a thousand GatewaySyncs one takes some 100 ms, in which nothing is answered, and each minute of polls leaves 8 MiB. */
const leastMs = 120_000
const leastLeftBytes = 2 * 1024 * 1024

/** The process, as far as collecting garbage is concerned. */
export type Collector = {
  usedBytes(): number
  /** Processor time since the last call, or the start, without that of git. */
  busyMs(): number
  /** Pages read from the disk since the last call, or the start. */
  majorFaults(): number
  collect(): void
}

type Deps = {
  clock: Pick<Clock, 'wait' | 'monotonicMs'>
  log: Pick<Log, 'warn'>
  /** How many threads have ended: V8 returns their pages with the next collection of the process. */
  endedThreads(): number
}

/** To be called when all lists have come; runs until the signal. `collector` is undefined unless the process was started with `--expose-gc`, as it is in the image. */
export async function reclaimMemory(
  { clock, log, endedThreads }: Deps,
  signal: AbortSignal,
  collector: Collector | undefined = openCollector(globalThis.gc),
): Promise<void> {
  if (collector === undefined) return
  await pause(clock, startMs, signal)
  if (signal.aborted) return
  collector.collect()
  let collected: { atMs: number; leftBytes: number; threads: number } | undefined
  const tell = createWarning({ clock, log })
  while (!signal.aborted) {
    await pause(clock, lookEachMs, signal)
    if (signal.aborted) return
    const faults = collector.majorFaults()
    const isPressed = faults > pressedFaults
    tell(isPressed, faults)
    const isQuiet = collector.busyMs() <= lookEachMs * quietShare
    if (!isPressed && !isQuiet) continue
    const isSoon = collected !== undefined && clock.monotonicMs() - collected.atMs < (isPressed ? leastPressedMs : leastMs)
    const threads = endedThreads()
    const isWorthIt = collected?.threads !== threads || collector.usedBytes() - collected.leftBytes >= leastLeftBytes
    if (isSoon || !isWorthIt) continue
    collector.collect()
    collected = { atMs: clock.monotonicMs(), leftBytes: collector.usedBytes(), threads }
  }
}

/** Says of a pressure that lasts what to do about it; called after each look. */
function createWarning({ clock, log }: Pick<Deps, 'clock' | 'log'>): (isPressed: boolean, faults: number) => void {
  let pressed = 0
  let toldAtMs: number | undefined
  return (isPressed, faults) => {
    pressed = isPressed ? pressed + 1 : 0
    const nowMs = clock.monotonicMs()
    if (pressed < looksUntilTold || (toldAtMs !== undefined && nowMs - toldAtMs < leastToldMs)) return
    toldAtMs = nowMs
    log.warn(
      { component: 'memory', count: faults, durationMs: lookEachMs },
      'the container is full: pages of this program are dropped and read from the disk again and again; give the controller more memory ' +
        "(resources.limits.memory), and see whether the read-ahead of the node's disk is larger than usual (blockdev --getra, usually 256)",
    )
  }
}

function openCollector(gc: typeof globalThis.gc): Collector | undefined {
  if (gc === undefined) return undefined
  let beforeMs = 0
  let beforeFaults = 0
  return {
    usedBytes: heapAndBuffers,
    busyMs() {
      const { user, system } = cpuUsage()
      const nowMs = (user + system) / 1000
      const ms = nowMs - beforeMs
      beforeMs = nowMs
      return ms
    },
    majorFaults() {
      const { majorPageFault } = resourceUsage()
      const faults = majorPageFault - beforeFaults
      beforeFaults = majorPageFault
      return faults
    },
    // Also drops code that has not run for a while, and compacts the heap.
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  }
}
