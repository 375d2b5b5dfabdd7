/**
 * Records spans for the cycles that bring a requested commit to a gateway: each cycle with its steps, until one succeeds.
 */
import type { Clock } from '../platform/clock.ts'
import type { Reason } from '../platform/fault.ts'
import type { CycleResult } from '../sync/cycle.ts'
import type { CycleStep } from '../sync/step.ts'
import type { EndedSpan, Tracing } from '../telemetry/tracing/trace.ts'

type Stepped = (step: CycleStep, durationMs: number, reason: 'ok' | Reason) => void

/** Runs one cycle, which reports its steps. */
export type TraceCycle = (
  desired: { commit: string; requestId?: string | undefined },
  stepped: Stepped,
  cycle: (stepped: Stepped) => Promise<CycleResult>,
) => Promise<CycleResult>

/** While a gateway is unreachable, a cycle fails every few seconds. */
const maxCycles = 10

/** `inPlace`: the commit that the data directory held when the process started; its spans already exist. */
export function createCycleTraces(
  { clock, tracing }: { clock: Clock; tracing: Pick<Tracing, 'ended'> },
  attributes: Readonly<Record<string, string>>,
  inPlace: string | undefined,
): TraceCycle {
  let latest = { of: '', left: 0 }
  let atFirst = inPlace
  return async ({ commit, requestId }, stepped, cycle) => {
    const of = `${requestId} ${commit}`
    if (latest.of !== of) latest = { of, left: commit === atFirst ? 0 : maxCycles }
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
