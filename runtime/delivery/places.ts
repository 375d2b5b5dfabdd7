/**
 * Limits how many answers of delivery are under way: in all, for one namespace and for one pod. There is no queue, because each waiting
 * agent would hold a connection: agents are told when to return, later the more of them were sent away.
 */
import type { Clock } from '../clock.ts'

/** Answers under way at once. */
export type PlaceLimits = {
  all: number
  /** Less than all, so that one namespace leaves room for the others. */
  perNamespace: number
  /** An agent asks for one thing at a time, but one that restarted may have left an answer behind. */
  perPod: number
}

/** Hands out places for answers. */
export type Places = {
  /** Takes a place; `pod` is `namespace/name`. `giveBack` may be called more than once. */
  take(namespace: string, pod: string): { kind: 'taken'; giveBack(): void } | { kind: 'full'; retryAfterSeconds: number }
}

/** The least number of returning agents that are served within a second, from which the time to return is computed. */
const servedPerSecond = 50
const longestWaitSeconds = 15
const windowMs = 1_000

/** `changed` is called with the number of answers under way each time that one begins or ends. */
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
    // Agents that were sent away a while ago have returned meanwhile.
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
