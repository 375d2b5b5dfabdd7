/**
 * Decides whether an answer should wait briefly for other readers: the agents of one GatewaySync detect a commit at the same time and
 * request the same content.
 */
import { FairCache } from '../../platform/async/fair-cache.ts'
import type { Clock } from '../../platform/clock.ts'

const fellowsMs = 5_000
const maxSubjects = 1_000

/** Records which subjects (a commit of a GatewaySync) several pods request within five seconds; keeps 1,000. */
export function createBatchWindow(clock: Pick<Clock, 'monotonicMs'>) {
  const last = new FairCache<{ pod: string; severalUntilMs: number }>({ max: maxSubjects })
  return {
    /** Records that `pod` requests `subject`. Returns whether several pods are requesting it now. */
    join(namespace: string, subject: string, pod: string): boolean {
      const nowMs = clock.monotonicMs()
      const before = last.get(subject)
      const severalUntilMs = before !== undefined && before.pod !== pod ? nowMs + fellowsMs : (before?.severalUntilMs ?? 0)
      last.set(namespace, subject, { pod, severalUntilMs })
      return nowMs < severalUntilMs
    },
  }
}
