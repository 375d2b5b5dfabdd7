/**
 * Parses the holder of a lock from its file, and determines whether that process is still running: the kernel reuses a pid, but not with
 * the same start time.
 */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'

const holderSchema = v.object({
  /** Random, one per process. */
  id: v.string(),
  pid: v.number(),
  /** Clock ticks since boot at which the process started: a reused pid has another. */
  startTime: v.string(),
  bootId: v.string(),
  /** A pid has a meaning only in its own namespace. */
  pidNamespace: v.string(),
  host: v.string(),
  /** A role that only one process at a time can have, such as the agent of a pod, by the pod's uid; `''` when there is none. */
  only: v.string(),
})
/** The content of a lock file. */
export type Holder = v.InferOutput<typeof holderSchema>

/**
 * `ours` if this process holds the lock, `unseen` if only a heartbeat can show. `startTime` is that of the process with the holder's pid in
 * this PID namespace; undefined: none. Pure.
 */
export function classifyHolder(holder: Holder, self: Holder, startTime: string | undefined): 'ours' | 'alive' | 'dead' | 'unseen' {
  if (holder.id === self.id) return 'ours'
  const isSeen = holder.bootId === self.bootId && holder.pidNamespace === self.pidNamespace && self.pidNamespace !== ''
  if (isSeen) return startTime !== undefined && startTime === holder.startTime ? 'alive' : 'dead'
  if (holder.only !== '' && holder.only === self.only) return 'dead'
  // This machine has been restarted since.
  if (holder.host === self.host && holder.bootId !== self.bootId && holder.bootId !== '' && self.bootId !== '') return 'dead'
  return 'unseen'
}

/** The content of a lock file; undefined when it is damaged. */
export function parseHolder(text: string): Holder | undefined {
  try {
    const parsed = v.safeParse(holderSchema, JSON.parse(text))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}

/**
 * Clock ticks since boot at which a process started; undefined: no such process, or `/proc` does not show it. `pid`: a number, or `self`.
 */
export function startTimeOf(pid: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Field 22 of proc(5); the name before it may hold spaces and parentheses.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
