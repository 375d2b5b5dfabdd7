/**
 * Writes the requests of each GatewaySync one after another, within its budget. Calls for one ref that arrive during a write share the next
 * write for it. Over the budget all waiting requests become one write: it requests the newest and names the others as superseded. Namespaces
 * take turns.
 */
import type { Clock } from '../../platform/clock.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { Fault } from '../../platform/fault.ts'

/** The content of one write. */
export type RequestToWrite = {
  id: string
  ref: string
  /** Requests superseded before they were written, oldest first: their callers wait for an outcome too. */
  superseded: readonly { id: string; ref: string }[]
}

/** `perSecond`: average rate; `burst`: maximum at the same time. */
export type Budget = { perSecond: number; burst: number }

/** More than a plant with one gateway per ref needs; the API server takes a write in about 5 ms. */
export const defaultBudget: Budget = { perSecond: 10, burst: 50 }

/** One per replica. */
export type WriteQueues = {
  /**
   * Queues a write for `resource` (`namespace/name`). Returns the id of the request once it is written; rejects with what `write` rejects
   * with.
   */
  enqueue(resource: string, ref: string, write: (request: RequestToWrite) => Promise<void>): Promise<string>
}

type Waiting = { id: string; ref: string; write: (request: RequestToWrite) => Promise<void>; written: PromiseWithResolvers<string> }
type WriteQueue = {
  waiting: Map<string, Waiting>
  running: boolean
  /** When the whole budget will be available again, in monotonic ms. */
  freshAtMs: number
}

/** Slots for open requests that are left to other replicas, which write at the same time. */
const reservedSlots = 3
/**
 * Longest wait in ms for a free slot; after it the oldest open request loses its slot. The leader frees slots within a reconcile, so this
 * happens only without a leader: git hosts abandon a call after five or ten seconds, and a lost push is worse.
 */
export const longestWaitMs = 4_000
const pollIntervalMs = 20
/** Concurrent writes in total and of one namespace: a namespace with many GatewaySyncs must not occupy every connection to the API server. */
export const writeTurns = { total: 16, perKey: 8, waitMs: 4_000 } as const
const maxQueues = 1_000

/** `budget` bounds the writes to one GatewaySync. */
export type WriteQueueDeps = {
  clock: Clock
  budget?: Budget | undefined
  /** How many more open requests a resource may have. */
  freeSlots(resource: string): number
}

/** One queue per GatewaySync: calls that wait during a write are written together, each with its own id. */
export function createWriteQueues({ clock, freeSlots, budget: { perSecond, burst } = defaultBudget }: WriteQueueDeps): WriteQueues {
  const queues = new Map<string, WriteQueue>()
  const turns = new FairLimiter({ ...writeTurns, clock })
  const intervalMs = 1_000 / perSecond

  const queueOf = (resource: string): WriteQueue => {
    const known = queues.get(resource)
    if (known !== undefined) return known
    if (queues.size >= maxQueues) forgetIdle()
    const queue: WriteQueue = { waiting: new Map(), running: false, freshAtMs: 0 }
    queues.set(resource, queue)
    return queue
  }
  const forgetIdle = (): void => {
    const nowMs = clock.monotonicMs()
    for (const [resource, { running, freshAtMs }] of queues) if (!running && freshAtMs <= nowMs) queues.delete(resource)
  }
  /** Returns whether there was anything to wait for. */
  const waitForSlot = async (resource: string): Promise<boolean> => {
    const startMs = clock.monotonicMs()
    if (freeSlots(resource) > reservedSlots) return false
    while (freeSlots(resource) <= reservedSlots && clock.monotonicMs() < startMs + longestWaitMs) await clock.wait(pollIntervalMs)
    return true
  }
  const run = async (resource: string, queue: WriteQueue): Promise<void> => {
    queue.running = true
    while (queue.waiting.size > 0) {
      const overMs = queue.freshAtMs - (burst - 1) * intervalMs - clock.monotonicMs()
      if (overMs > 0) await clock.wait(overMs)
      const waited = await waitForSlot(resource)
      const turn = await turns.acquire({ tenant: resource.split('/')[0] ?? '' })
      const most = overMs > 0 || waited ? Math.max(1, freeSlots(resource) - reservedSlots) : 1
      const together = [...queue.waiting.values()].slice(0, most)
      for (const { ref } of together) queue.waiting.delete(ref)
      queue.freshAtMs = Math.max(queue.freshAtMs, clock.monotonicMs()) + intervalMs
      await writeTogether(together, turn !== undefined)
      turn?.release()
    }
    queue.running = false
  }

  return {
    enqueue(resource, ref, write) {
      const queue = queueOf(resource)
      const known = queue.waiting.get(ref)
      if (known !== undefined) {
        // The newest call has the latest state of the ref.
        known.write = write
        return known.written.promise
      }
      const waiting: Waiting = { id: clock.uuid(), ref, write, written: Promise.withResolvers<string>() }
      queue.waiting.set(ref, waiting)
      if (!queue.running) void run(resource, queue)
      return waiting.written.promise
    },
  }
}

/**
 * Writes the newest request, as if all had been written one after another. `hasTurn`: false if too many others of the namespace are being
 * written. Never rejects: each waiting call gets the result.
 */
async function writeTogether(together: readonly Waiting[], hasTurn: boolean): Promise<void> {
  const newest = together.at(-1)
  if (newest === undefined) return
  const superseded = together.slice(0, -1).map(({ id, ref }) => ({ id, ref }))
  try {
    if (!hasTurn) throw new Fault('ApiUnavailable', 'too many requests of the namespace are being written')
    await newest.write({ id: newest.id, ref: newest.ref, superseded })
    for (const { id, written } of together) written.resolve(id)
  } catch (error) {
    for (const { written } of together) written.reject(error)
  }
}
