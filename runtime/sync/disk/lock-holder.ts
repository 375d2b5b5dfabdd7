/**
 * Who holds a lock, as its file says, and whether that process still lives. Pure.
 */
import * as v from 'valibot'

const holderSchema = v.object({
  /** Random, one for each process. */
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
 * `ours` when the lock is held by this very process, `unseen` when only a sign of life can tell. `startTime` is that of the process which has
 * the holder's pid in our namespace; undefined when there is none. Pure.
 */
export function judgeHolder(holder: Holder, self: Holder, startTime: string | undefined): 'ours' | 'alive' | 'dead' | 'unseen' {
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
