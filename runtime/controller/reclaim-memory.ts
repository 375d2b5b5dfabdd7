/**
 * Returns unused memory when the controller is idle, and frees memory when the container is full. V8 collects garbage only when much is
 * allocated, so what a start or a push has left stays, in pages that are half empty. V8 does not know the container's limit: when the
 * process holds most of its memory, the kernel drops pages of Node's own program and reads them again from the disk, hundreds per second,
 * and a controller with hundreds of GatewaySyncs does little else.
 */
import { cpuUsage, resourceUsage } from 'node:process'
import { type Clock, pause } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import { heapAndBuffers } from '../platform/memory.ts'
import { PerformanceObserver } from 'node:perf_hooks'

/**
 * After the lists have arrived: by then a leader has processed them, and its first git process needs memory. Later, their remains would
 * fill the container, and the kernel would evict program pages.
 */
const startMs = 300
const pollIntervalMs = 5_000
/** Pages read from the disk since the last check: the process leaves too little memory for programs. A collection costs less. */
const pressedFaults = 100
/** Minimum time between two collections under such pressure. */
const minPressedMs = 10_000
/** Pressure in this many consecutive checks (a minute) is logged; not again within `minWarningMs`. */
const checksUntilWarning = 12
const minWarningMs = 3_600_000
/**
 * The controller counts as idle below this share of one processor, over all threads; at rest a thousand GatewaySyncs take up to a tenth.
 */
const quietShare = 0.15
/**
 * Minimum time between two collections: with a thousand GatewaySyncs one blocks for about 100 ms, and each minute of polls leaves 8 MiB.
 */
const minMs = 120_000
const leastLeftBytes = 2 * 1024 * 1024

/** The process metrics and the garbage collector. */
export type Collector = {
  usedBytes(): number
  /** Processor time since the last call or the start, excluding git. */
  busyMs(): number
  /** Pages read from the disk since the last call, or the start. */
  majorFaults(): number
  collect(): void
}

type Deps = {
  clock: Pick<Clock, 'wait' | 'monotonicMs'>
  log: Pick<Log, 'warn'>
  /** Number of ended threads: V8 returns their pages with the next collection of the process. */
  endedThreads(): number
}

/**
 * Call when all lists have arrived; runs until `signal` aborts. `collector` is undefined unless the process was started with `--expose-gc`,
 * as it is in the image.
 */
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
  const warn = createWarning({ clock, log })
  while (!signal.aborted) {
    await pause(clock, pollIntervalMs, signal)
    if (signal.aborted) return
    const faults = collector.majorFaults()
    const isPressed = faults > pressedFaults
    warn(isPressed, faults)
    const isQuiet = collector.busyMs() <= pollIntervalMs * quietShare
    if (!isPressed && !isQuiet) continue
    const isSoon = collected !== undefined && clock.monotonicMs() - collected.atMs < (isPressed ? minPressedMs : minMs)
    const threads = endedThreads()
    const isWorthIt = collected?.threads !== threads || collector.usedBytes() - collected.leftBytes >= leastLeftBytes
    if (isSoon || !isWorthIt) continue
    collector.collect()
    collected = { atMs: clock.monotonicMs(), leftBytes: collector.usedBytes(), threads }
  }
}

/** Warns about lasting memory pressure and what to do; called after each check. */
function createWarning({ clock, log }: Pick<Deps, 'clock' | 'log'>): (isPressed: boolean, faults: number) => void {
  let pressed = 0
  let toldAtMs: number | undefined
  return (isPressed, faults) => {
    pressed = isPressed ? pressed + 1 : 0
    const nowMs = clock.monotonicMs()
    if (pressed < checksUntilWarning || (toldAtMs !== undefined && nowMs - toldAtMs < minWarningMs)) return
    toldAtMs = nowMs
    log.warn(
      { component: 'memory', count: faults, durationMs: pollIntervalMs },
      'the memory of the container is full: pages of this program are repeatedly dropped and read from the disk again; give the controller more memory ' +
        "(resources.limits.memory), and check whether the read-ahead of the node's disk is larger than usual (blockdev --getra, usually 256)",
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

/** A collection takes about 20 ms with a thousand GatewaySyncs in use. */
const minGarbageBytes = 8 * 1024 * 1024
/** Share of the memory in use: the more is in use, the longer a collection takes. */
const garbageShare = 0.3

/** The heap of the process. */
export type Heap = {
  /** Including garbage and buffers. */
  usedBytes(): number
  collect(): void
  /** Calls `onGrown` when V8 has collected young objects, after each mebibyte of them, until `signal` aborts. */
  onGrowth(onGrown: () => void, signal: AbortSignal): void
}

/**
 * Collects garbage before too much accumulates. V8 collects at 30 percent above what the last collection left, but checks only when it
 * needs another page: young objects that survive two young collections do not count unless V8 marks incrementally, which it does not in
 * the image. Without this, starting with a thousand GatewaySyncs took 72 MiB of heap with 20 in use, most of the container, and pages of
 * Node's program were evicted. Runs until `signal` aborts. `heap` is undefined unless the process was started with `--expose-gc`, as it is
 * in the image.
 */
export function boundGarbage(signal: AbortSignal, heap: Heap | undefined = openHeap(globalThis.gc)): void {
  let least = Number.POSITIVE_INFINITY
  heap?.onGrowth(() => {
    const used = heap.usedBytes()
    least = Math.min(least, used)
    if (used - least < Math.max(minGarbageBytes, least * garbageShare)) return
    heap.collect()
    least = heap.usedBytes()
  }, signal)
}

function openHeap(gc: typeof globalThis.gc): Heap | undefined {
  if (gc === undefined) return undefined
  return {
    usedBytes: heapAndBuffers,
    collect: () => gc({ type: 'major', execution: 'sync' }),
    onGrowth(onGrown, signal) {
      const observer = new PerformanceObserver(onGrown)
      observer.observe({ entryTypes: ['gc'] })
      signal.addEventListener('abort', () => observer.disconnect(), { once: true })
    },
  }
}
