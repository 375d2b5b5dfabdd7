/**
 * Scans and scan locks as a gateway runs them: asynchronous, one at a time for each kind, and a scan ends the lock.
 */
export type Kind = 'projects' | 'config'
export type ScanState = { scanActive: boolean; lastScanTimestamp: number; lastScanDuration: number }
type Lock = { actor: string; timestamp: number; remaining: number }

export type Scans = {
  state(kind: Kind): ScanState
  /** Starts a scan unless one is active; the answer is the state at once, as the gateway gives it. */
  start(kind: Kind): ScanState
  lock(kind: Kind, actor: string, holdMs: number): Lock | 'held'
  lockOf(kind: Kind): Lock | undefined
  stop(): void
}

export function createScans({ scanMs, finished }: { scanMs: number; finished: (kind: Kind) => void }): Scans {
  const states: Record<Kind, ScanState> = {
    projects: { scanActive: false, lastScanTimestamp: 0, lastScanDuration: 0 },
    config: { scanActive: false, lastScanTimestamp: 0, lastScanDuration: 0 },
  }
  const locks = new Map<Kind, { actor: string; since: number; untilMs: number }>()
  const timers = new Set<NodeJS.Timeout>()
  const lockOf = (kind: Kind): Lock | undefined => {
    const lock = locks.get(kind)
    const now = Date.now()
    if (lock === undefined || lock.untilMs <= now) return undefined
    return { actor: lock.actor, timestamp: lock.since, remaining: Math.ceil((lock.untilMs - now) / 1000) }
  }
  return {
    state: (kind) => states[kind],
    start(kind) {
      locks.delete(kind)
      if (states[kind].scanActive) return states[kind]
      states[kind] = { ...states[kind], scanActive: true }
      const timer = setTimeout(() => {
        timers.delete(timer)
        // Two scans of one millisecond must still have two timestamps.
        const lastScanTimestamp = Math.max(Date.now(), states[kind].lastScanTimestamp + 1)
        states[kind] = { scanActive: false, lastScanTimestamp, lastScanDuration: scanMs }
        finished(kind)
      }, scanMs)
      timers.add(timer)
      return states[kind]
    },
    lock(kind, actor, holdMs) {
      if (lockOf(kind) !== undefined) return 'held'
      const now = Date.now()
      locks.set(kind, { actor, since: now, untilMs: now + holdMs })
      return { actor, timestamp: now, remaining: Math.ceil(holdMs / 1000) }
    },
    lockOf,
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
