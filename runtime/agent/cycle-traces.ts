/**
 * The spans of those cycles that bring the commit of a request to a gateway: each cycle with its steps, until one has ended well.
 */
import type { Clock } from '../clock.ts'
import type { Reason } from '../fault.ts'
import type { CycleResult } from '../sync/cycle.ts'
import type { CycleStep } from '../sync/step.ts'
import type { EndedSpan, Tracing } from '../tracing/trace.ts'

type Stepped = (step: CycleStep, durationMs: number, reason: 'ok' | Reason) => void

/** Runs one cycle, which reports its steps. */
export type TraceCycle = (
  wanted: { commit: string; requestId?: string | undefined },
  stepped: Stepped,
  cycle: (stepped: Stepped) => Promise<CycleResult>,
) => Promise<CycleResult>

/** A gateway that is away for long lets a cycle end without success each few seconds. */
const mostCycles = 10

/** `inPlace`: the commit that the data directory held when the process began, which has its spans. */
export function createCycleTraces(
  { clock, tracing }: { clock: Clock; tracing: Pick<Tracing, 'ended'> },
  attributes: Readonly<Record<string, string>>,
  inPlace: string | undefined,
): TraceCycle {
  let latest = { of: '', left: 0 }
  let atFirst = inPlace
  return async ({ commit, requestId }, stepped, cycle) => {
    const of = `${requestId} ${commit}`
    if (latest.of !== of) latest = { of, left: commit === atFirst ? 0 : mostCycles }
    atFirst = undefined
    if (requestId === undefined || latest.left === 0) return await cycle(stepped)
    const startedMs = clock.monotonicMs()
    const now = (): number => clock.now().epochMilliseconds
    const parts: EndedSpan[] = []
    const result = await cycle((name, durationMs, reason) => {
      stepped(name, durationMs, reason)
      parts.push({ name, endedAtMs: now(), durationMs, reason })
    })
    const isOver = !['Failed', 'Blocked', 'Pending'].includes(result.phase)
    latest.left = isOver ? 0 : latest.left - 1
    const reason = isOver ? 'ok' : (result.reason ?? result.phase)
    const about = { ...attributes, commit, phase: result.phase }
    tracing.ended(requestId, {
      name: 'sync',
      endedAtMs: now(),
      durationMs: clock.monotonicMs() - startedMs,
      reason,
      attributes: about,
      parts,
    })
    return result
  }
}
