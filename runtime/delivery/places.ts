/**
 * Limits how many answers of delivery are under way: in all, for one namespace and for one pod. Whoever finds no place waits for a moment, for
 * as many as are served have their answer within it. Each that waits holds a connection, so it is not for long, and not many: the others
 * are told when to return, later the more of them were sent away.
 */
import { type Clock, pause } from '../clock.ts'

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
  /** Takes a place, at once or within a second; `pod` is `namespace/name`. `giveBack` may be called more than once. */
  take(namespace: string, pod: string, signal: AbortSignal): Promise<Taken | { kind: 'full'; retryAfterSeconds: number }>
}

type Taken = { kind: 'taken'; giveBack(): void }
type Waiting = { namespace: string; pod: string; start(): void }

/** How long a caller waits for a place: shorter than it would stay away otherwise. */
const patienceMs = 1_000
/** The least number of returning agents that are served within a second, from which the time to return is computed. */
const servedPerSecond = 50
const longestWaitSeconds = 15
const windowMs = 1_000

/**
 * As many may wait as may be served, of one namespace as well as in all. `changed` is called with the number of answers under way each time
 * that one begins or ends.
 */
export function createPlaces(
  { all, perNamespace, perPod }: PlaceLimits,
  clock: Pick<Clock, 'monotonicMs' | 'wait'>,
  changed: (taken: number) => void = () => undefined,
): Places {
  const namespaces = new Map<string, number>()
  const pods = new Map<string, number>()
  const waiting: Waiting[] = []
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
  const hasPlace = (namespace: string, pod: string): boolean =>
    taken < all && (namespaces.get(namespace) ?? 0) < perNamespace && (pods.get(pod) ?? 0) < perPod
  const mayWait = (namespace: string, pod: string): boolean =>
    waiting.length < all &&
    waiting.filter((other) => other.namespace === namespace).length < perNamespace &&
    // A pod whose own limit is reached has left its answers behind: nobody gives them back soon. Those that wait will be answers too.
    (pods.get(pod) ?? 0) + waiting.filter((other) => other.pod === pod).length < perPod

  const place = (namespace: string, pod: string): Taken => {
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
        if (returned) return
        returned = true
        move(-1)
        const index = waiting.findIndex((next) => hasPlace(next.namespace, next.pod))
        if (index >= 0) waiting.splice(index, 1)[0]?.start()
      },
    }
  }
  /** Settles with a place, or with undefined when none was given back in time. */
  const waitFor = async (namespace: string, pod: string, signal: AbortSignal): Promise<Taken | undefined> => {
    const over = new AbortController()
    let given: Taken | undefined
    const own: Waiting = {
      namespace,
      pod,
      start() {
        given = place(namespace, pod)
        over.abort()
      },
    }
    waiting.push(own)
    await pause(clock, patienceMs, AbortSignal.any([signal, over.signal]))
    const index = waiting.indexOf(own)
    if (index >= 0) waiting.splice(index, 1)
    return given
  }

  return {
    async take(namespace, pod, signal) {
      if (hasPlace(namespace, pod)) return place(namespace, pod)
      const given = mayWait(namespace, pod) ? await waitFor(namespace, pod, signal) : undefined
      return given ?? sendAway()
    },
  }
}
