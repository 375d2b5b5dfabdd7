/**
 * Notifies browsers of page changes by server-sent events.
 */
import type { Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { type Clock, pause } from '../../platform/clock.ts'
import { headersOf, type Peers, peerFrom } from '../../http/client-address.ts'
import { problem } from '../../http/problem.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { aliveEveryMs } from '../client/live-script.ts'
import type { Env, PageAuth } from '../views/page-auth.ts'

/** Maximum number of open streams; further ones get 503. Without a stream a page works, but does not update automatically. */
const maxViewers = 200
/** Maximum number of streams of one user, over all tabs and browsers. */
const maxStreamsPerPerson = 16
/** Maximum number of streams of one address without login: more, because many users may share a proxy. */
const maxStreamsPerAddress = 50

type Deps = {
  viewers: Pick<Viewers, 'join' | 'count'>
  /** Undefined: no authentication. */
  auth: Pick<PageAuth, 'identify'> | undefined
  /** Finds the client address of a call. */
  peers: Peers
  clock: Pick<Clock, 'monotonicMs' | 'wait'>
  /** Ends the streams. */
  signal: AbortSignal
}

/** Adds `/events`. */
export function addServerSentEvents(app: Hono<Env>, { viewers, auth, peers, clock, signal }: Deps): void {
  /** Whether the request would still be authenticated: sessions expire, and keys are rotated. */
  const isStillIn = async (context: Context<Env>): Promise<boolean> =>
    auth === undefined || (await auth.identify((name) => headersOf(context, name))) !== undefined
  const perClient = auth === undefined ? maxStreamsPerAddress : maxStreamsPerPerson
  const streams = new FairLimiter({ total: maxViewers, perKey: perClient, clock })
  app.get('/events', (context) => {
    const changes = createBell()
    const isFull = viewers.count() >= maxViewers
    const own = isFull ? undefined : streams.tryAcquire({ tenant: context.get('person')?.name ?? peerFrom(context, peers) })
    if (own === undefined)
      return isFull
        ? problem(context, 503, `${maxViewers} pages are open already; close some or try again later`)
        : problem(context, 429, `you have ${perClient} pages open already; close some of them`)
    const leave = viewers.join(changes.ring)
    return streamSSE(context, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      const over = AbortSignal.any([signal, gone.signal])
      let askedMs = clock.monotonicMs()
      let isIn = true
      try {
        while (isIn && !over.aborted) {
          const rang = await changes.rung((signal) => pause(clock, aliveEveryMs, AbortSignal.any([over, signal])))
          if (over.aborted) break
          if (!rang || clock.monotonicMs() - askedMs >= aliveEveryMs) {
            askedMs = clock.monotonicMs()
            isIn = await isStillIn(context)
          }
          // A signed-out client fetches the page on this event and gets the refusal.
          await stream.writeSSE({ event: rang || !isIn ? 'changed' : 'alive', data: '' })
        }
      } finally {
        leave()
        own.release()
      }
    })
  })
}

/** Stays rung until a caller waits for it. */
function createBell(): { ring(): void; rung(limit: (signal: AbortSignal) => Promise<void>): Promise<boolean> } {
  let isRung = false
  let listener: (() => void) | undefined
  return {
    ring() {
      isRung = true
      listener?.()
    },
    /** Returns true if it was rung, false if the limit ended first; the signal ends the limit. */
    async rung(limit) {
      if (!isRung) {
        const ringing = new AbortController()
        listener = () => ringing.abort()
        await limit(ringing.signal)
        listener = undefined
      }
      const was = isRung
      isRung = false
      return was
    },
  }
}

/**
 * Notifies viewers of changes at most once in an interval.
 */
type Viewers = {
  /** Returns a function that ends the notifications. */
  join(notify: () => void): () => void
  /** Notifies all viewers of a change, at most once in `everyMs`. */
  changed(): void
  /** The number of viewers. */
  count(): number
}

type Wait = (ms: number) => Promise<void>

/** `wait` must not reject. `before` is called before each notification, even without viewers. */
type ViewerSettings = { everyMs: number; wait: Wait; before?: () => void }

/** Creates a set of viewers, notified at most once in `everyMs`. */
export function createViewers({ everyMs, wait, before }: ViewerSettings): Viewers {
  const viewers = new Set<() => void>()
  /** `resting`: viewers were notified less than `everyMs` ago; `hasPending`: a change has occurred since. */
  let resting = false
  let hasPending = false
  const notifyAll = (): void => {
    resting = true
    hasPending = false
    before?.()
    for (const notify of viewers) notify()
    void wait(everyMs).then(() => {
      resting = false
      if (hasPending) notifyAll()
    })
  }
  return {
    join(notify) {
      viewers.add(notify)
      return () => void viewers.delete(notify)
    },
    changed() {
      if (resting) hasPending = true
      else notifyAll()
    },
    count: () => viewers.size,
  }
}
