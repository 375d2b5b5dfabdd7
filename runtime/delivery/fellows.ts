/**
 * Whether an answer should wait a moment for other readers: the agents of one GatewaySync hear of a commit at the same time and ask for the
 * same content.
 */
import type { Clock } from '../clock.ts'

const fellowsMs = 5_000
const maxFellows = 1_000

/** Notes which subjects (a commit of a GatewaySync) several pods ask for within five seconds; remembers the latest 1,000. */
export function createFellows(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new Map<string, { pod: string; severalUntilMs: number }>()
  return {
    /** Notes that `pod` asks for `subject`. Returns whether several pods are asking for it now. */
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
