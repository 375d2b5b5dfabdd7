/**
 * Records the Events that `kubectl describe` and `kubectl events` show. Equal ones become one series, floods are limited, and callers never
 * wait.
 */
import type { EventsV1Event } from '@kubernetes/client-node'
import { type Clock, deadline } from '../platform/clock.ts'
import { FairCache } from '../platform/async/fair-cache.ts'
import { Turns } from '../platform/async/turns.ts'
import { asFault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import type { Kube } from './client.ts'
import { eventType, type New, type Stored } from './types.ts'

/** The content of an Event; `regarding` is the object it is shown for, and determines its namespace. */
export type EventToWrite = {
  regarding: { apiVersion: string; kind: string; namespace: string; name: string; uid: string }
  type: 'Normal' | 'Warning'
  reason: string
  action: string
  /** Constant for one revision, so that equal events are counted. Cut to 1,024 bytes, the API server's limit. */
  note: string
}

/**
 * client-go's limits: a burst of 25 per object, one more every five minutes. Here each reason has its own budget, so that a recurring
 * reason does not hide a rare one.
 */
const burst = 25
const refillMs = 300_000
/** An event that repeats within this time joins its series. */
const seriesMs = 600_000
const maxSeries = 2_000
const writeTimeoutMs = 10_000
/**
 * Further ones are dropped: after a long outage a backlog of old Events is not worth its memory. A namespace uses at most as many as are
 * free, so that there is always space for those of another one.
 */
const maxWaiting = 500
/** Maximum delay at shutdown. */
const lastWritesMs = 2_000
const maxNoteBytes = 1024

/** The component that reports, and the replica's name as `instance`. */
type Reporter = { component: string; instance: string }

type Series = { name: string; namespace: string; count: number; lastMs: number }

/**
 * Takes Events from one replica and writes them in the background, in the order of their namespace; namespaces take turns. Equal Events
 * within ten minutes become a series of one object; those beyond the limit of waiting ones are dropped.
 */
export class EventRecorder {
  readonly #deps: { kube: Kube; clock: Clock; log: Log }
  readonly #from: Reporter
  readonly #series = new FairCache<Series>({ max: maxSeries })
  readonly #budgets = new FairCache<{ left: number; sinceMs: number }>({ max: maxSeries })
  readonly #waiting = new Turns<EventToWrite>()
  readonly #ending = new AbortController()
  #last: Promise<void> = Promise.resolve()

  constructor(deps: { kube: Kube; clock: Clock; log: Log }, from: Reporter) {
    this.#deps = deps
    this.#from = from
  }

  /** Never throws and never waits. */
  record(event: EventToWrite): void {
    const { namespace } = event.regarding
    if (this.#waiting.sizeOf(namespace) >= maxWaiting - this.#waiting.size || !this.#mayWrite(event)) return
    // The same object may be recorded twice.
    this.#waiting.add(namespace, { ...event })
    this.#last = this.#last.then(() => this.#writeNext())
  }

  /** Call at process exit: settles when nothing is waiting; what the API server has not accepted within 2 s is dropped. */
  async settled(): Promise<void> {
    const inTime = new AbortController()
    this.#deps.clock.wait(lastWritesMs, inTime.signal).then(
      () => this.#ending.abort(new Error('the process ends')),
      () => undefined,
    )
    await this.#last
    inTime.abort()
  }

  #mayWrite({ regarding, reason }: EventToWrite): boolean {
    const object = `${regarding.uid} ${reason}`
    const nowMs = this.#deps.clock.monotonicMs()
    const budget = this.#budgets.get(object) ?? { left: burst, sinceMs: nowMs }
    const refilled = Math.floor((nowMs - budget.sinceMs) / refillMs)
    const left = Math.min(burst, budget.left + refilled)
    this.#budgets.set(regarding.namespace, object, { left: Math.max(0, left - 1), sinceMs: refilled > 0 ? nowMs : budget.sinceMs })
    return left > 0
  }

  async #writeNext(): Promise<void> {
    const event = this.#waiting.take()
    if (event === undefined || this.#ending.signal.aborted) return
    try {
      await this.#write(event, deadline(writeTimeoutMs, this.#ending.signal))
    } catch (error) {
      this.#deps.log.debug({ reason: asFault(error).reason, message: asFault(error).message }, 'event not written')
    }
  }

  async #write(event: EventToWrite, signal: AbortSignal): Promise<void> {
    const { kube, clock } = this.#deps
    const key = JSON.stringify([event.regarding.uid, event.type, event.reason, event.note])
    const known = this.#series.get(key)
    const nowMs = clock.monotonicMs()
    const at = clock.now().toString({ fractionalSecondDigits: 6 })
    if (known !== undefined && nowMs - known.lastMs < seriesMs) {
      known.count += 1
      known.lastMs = nowMs
      const patch = { series: { count: known.count, lastObservedTime: at } }
      // The Event may have been deleted meanwhile; then the next equal one begins a new series.
      this.#series.delete(key)
      await kube.mergePatch(eventType, known, patch, {}, signal)
      this.#series.set(known.namespace, key, known)
      return
    }
    const { namespace } = event.regarding
    const name = `${event.regarding.name.slice(0, 200)}.${clock.uuid()}`
    await kube.create(eventType, objectOf(event, name, at, this.#from), signal)
    this.#series.set(namespace, key, { name, namespace, count: 1, lastMs: nowMs })
  }
}

/** The API server counts bytes. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes - 3)
        .toString('utf8')
        .replace(/\uFFFD$/, '')
}

function objectOf(
  { regarding, type, reason, action, note }: EventToWrite,
  name: string,
  at: string,
  from: Reporter,
): New<Stored<EventsV1Event>> {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: regarding.namespace },
    eventTime: at,
    reportingController: from.component,
    reportingInstance: from.instance.slice(0, 128),
    regarding,
    type,
    reason,
    action,
    note: cut(note, maxNoteBytes),
  }
}
