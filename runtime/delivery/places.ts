/**
 * How many answers of delivery are under way: in all, of one namespace and of one pod. Nobody waits in line here, for whoever waits holds a
 * connection: agents are told when to come again, later when more of them were sent away.
 */
import type { Clock } from '../clock.ts'

export type PlaceLimits = {
  all: number
  /** Less than all, so that one namespace leaves room for the others. */
  perNamespace: number
  /** An agent asks for one thing at a time; one that was restarted may leave an answer behind. */
  perPod: number
}

export type Places = {
  /** Takes a place; `pod` is `namespace/name`. */
  take(namespace: string, pod: string): { kind: 'taken'; giveBack(): void } | { kind: 'full'; retryAfterSeconds: number }
}

/** So many of those that were sent away are served in a second, at least. */
const servedPerSecond = 50
const longestWaitSeconds = 15
const windowMs = 1_000

/** `changed` is told how many answers are under way, each time that one begins or ends. */
export function createPlaces(
  { all, perNamespace, perPod }: PlaceLimits,
  clock: Pick<Clock, 'monotonicMs'>,
  changed: (taken: number) => void = () => undefined,
): Places {
  const namespaces = new Map<string, number>()
  const pods = new Map<string, number>()
  let taken = 0
  let sentAway = { count: 0, sinceMs: clock.monotonicMs() }

  const change = (counts: Map<string, number>, key: string, by: number): void => {
    const now = (counts.get(key) ?? 0) + by
    if (now > 0) counts.set(key, now)
    else counts.delete(key)
  }
  const sendAway = (): { kind: 'full'; retryAfterSeconds: number } => {
    const nowMs = clock.monotonicMs()
    // What came a while ago has come back meanwhile.
    const left = Math.max(0, sentAway.count - ((nowMs - sentAway.sinceMs) / windowMs) * servedPerSecond)
    sentAway = { count: left + 1, sinceMs: nowMs }
    return { kind: 'full', retryAfterSeconds: Math.min(longestWaitSeconds, 1 + Math.floor(left / servedPerSecond)) }
  }

  return {
    take(namespace, pod) {
      const isFull = taken >= all || (namespaces.get(namespace) ?? 0) >= perNamespace || (pods.get(pod) ?? 0) >= perPod
      if (isFull) return sendAway()
      const move = (by: number): void => {
        taken += by
        change(namespaces, namespace, by)
        change(pods, pod, by)
        changed(taken)
      }
      move(1)
      let returned = false
      return {
        kind: 'taken',
        giveBack() {
          if (!returned) move(-1)
          returned = true
        },
      }
    },
  }
}
