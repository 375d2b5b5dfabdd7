/**
 * Decides whether an answer should wait briefly for other readers: the agents of one GatewaySync learn of a commit at the same time and
 * request the same content.
 */
import type { Clock } from '../../platform/clock.ts'

const fellowsMs = 5_000
const maxSubjects = 1_000

/** Records which subjects (a commit of a GatewaySync) several pods request within five seconds; keeps the latest 1,000. */
export function createBatchWindow(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new Map<string, { pod: string; severalUntilMs: number }>()
  return {
    /** Records that `pod` requests `subject`. Returns whether several pods are requesting it now. */
    join(subject: string, pod: string): boolean {
      const nowMs = clock.monotonicMs()
      const before = last.get(subject)
      const severalUntilMs = before !== undefined && before.pod !== pod ? nowMs + fellowsMs : (before?.severalUntilMs ?? 0)
      last.delete(subject)
      last.set(subject, { pod, severalUntilMs })
      const [oldest] = last.keys()
      if (last.size > maxSubjects && oldest !== undefined) last.delete(oldest)
      return nowMs < severalUntilMs
    },
  }
}
