/**
 * The writes of each resource, one after another and no more than its budget allows. Calls for one ref that come while others are ahead
 * share the next write for it: it begins after every one of them. Over the budget all that wait become one write, and no more requests are
 * made than can be waited for.
 */
import type { Clock } from '../../clock.ts'

/** What one write asks for. */
export type Turn = {
  id: string
  ref: string
  /** Requests that this one makes void before they were ever written, oldest first: their callers wait for an outcome too. */
  overtakes: readonly { id: string; ref: string }[]
}

/** `perSecond` writes in the long run, `burst` at once. */
export type Budget = { perSecond: number; burst: number }

/** More than a plant with one gateway per ref needs; the API server takes a write in about 5 ms. */
export const defaultBudget: Budget = { perSecond: 10, burst: 50 }

export type Lines = {
  /** The id of the request that the call became, once it is written. Rejects with what the write rejects with. */
  join(resource: string, ref: string, write: (turn: Turn) => Promise<void>): Promise<string>
}

type Waiting = { id: string; ref: string; write: (turn: Turn) => Promise<void>; written: PromiseWithResolvers<string> }
type Line = {
  waiting: Map<string, Waiting>
  running: boolean
  /** When nothing of the budget would be in use any more. */
  freshAtMs: number
}

/** What another replica may write meanwhile. */
const reserve = 3
/**
 * The replica that leads makes room as soon as it has looked. Where none leads for so long, the oldest requests go without an outcome: git
 * hosts give a call up after five seconds or ten, and a push that is lost is worse.
 */
const patienceMs = 4_000
const lookEachMs = 20
const keptLines = 1_000

export type LineDeps = {
  clock: Clock
  budget?: Budget | undefined
  /** How many more requests of a resource could be waited for; one that is written without room takes it from the oldest. */
  room(resource: string): number
}

export function createLines({ clock, room, budget: { perSecond, burst } = defaultBudget }: LineDeps): Lines {
  const lines = new Map<string, Line>()
  const eachMs = 1_000 / perSecond

  const lineOf = (resource: string): Line => {
    const known = lines.get(resource)
    if (known !== undefined) return known
    if (lines.size >= keptLines) forgetIdle()
    const line: Line = { waiting: new Map(), running: false, freshAtMs: 0 }
    lines.set(resource, line)
    return line
  }
  const forgetIdle = (): void => {
    const nowMs = clock.monotonicMs()
    for (const [resource, { running, freshAtMs }] of lines) if (!running && freshAtMs <= nowMs) lines.delete(resource)
  }
  const waitForRoom = async (resource: string): Promise<boolean> => {
    const startMs = clock.monotonicMs()
    if (room(resource) > reserve) return false
    while (room(resource) <= reserve && clock.monotonicMs() < startMs + patienceMs) await clock.wait(lookEachMs)
    return true
  }
  const run = async (resource: string, line: Line): Promise<void> => {
    line.running = true
    while (line.waiting.size > 0) {
      const overMs = line.freshAtMs - (burst - 1) * eachMs - clock.monotonicMs()
      if (overMs > 0) await clock.wait(overMs)
      const waited = await waitForRoom(resource)
      const most = overMs > 0 || waited ? Math.max(1, room(resource) - reserve) : 1
      const together = [...line.waiting.values()].slice(0, most)
      for (const { ref } of together) line.waiting.delete(ref)
      line.freshAtMs = Math.max(line.freshAtMs, clock.monotonicMs()) + eachMs
      await writeTogether(together)
    }
    line.running = false
  }

  return {
    join(resource, ref, write) {
      const line = lineOf(resource)
      const known = line.waiting.get(ref)
      if (known !== undefined) return known.written.promise
      const waiting: Waiting = { id: clock.uuid(), ref, write, written: Promise.withResolvers<string>() }
      line.waiting.set(ref, waiting)
      if (!line.running) void run(resource, line)
      return waiting.written.promise
    },
  }
}

/** The newest is what is asked for, as if they had been written one after another. Never rejects. */
async function writeTogether(together: readonly Waiting[]): Promise<void> {
  const newest = together.at(-1)
  if (newest === undefined) return
  const overtakes = together.slice(0, -1).map(({ id, ref }) => ({ id, ref }))
  try {
    await newest.write({ id: newest.id, ref: newest.ref, overtakes })
    for (const { id, written } of together) written.resolve(id)
  } catch (error) {
    for (const { written } of together) written.reject(error)
  }
}
