/**
 * Whether an answer is worth waiting for others with: agents of one GatewaySync hear of a commit at the same moment, and ask for the same.
 */
import type { Clock } from '../clock.ts'

const fellowsMs = 5_000
const maxFellows = 1_000

/** Which GatewaySyncs several pods are asking for the same commit of. */
export function createFellows(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new Map<string, { pod: string; severalUntilMs: number }>()
  return {
    /** Notes that a pod asks; whether another one has asked just before. */
    join(subject: string, pod: string): boolean {
      const nowMs = clock.monotonicMs()
      const before = last.get(subject)
      const severalUntilMs = before !== undefined && before.pod !== pod ? nowMs + fellowsMs : (before?.severalUntilMs ?? 0)
      last.delete(subject)
      last.set(subject, { pod, severalUntilMs })
      const [oldest] = last.keys()
      if (last.size > maxFellows && oldest !== undefined) last.delete(oldest)
      return nowMs < severalUntilMs
    },
  }
}
