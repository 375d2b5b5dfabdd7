/**
 * How a browser learns that the page has changed: a stream of server-sent events, on which nothing is told but that.
 */
import type { Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { type Clock, pause } from '../clock.ts'
import { headersOf } from '../http/peer.ts'
import { problem } from '../http/problem.ts'
import { aliveEveryMs } from './live-script.ts'
import type { Env, People } from './people.ts'
import type { Viewers } from './viewers.ts'

/** Streams that are open at once; the next one is answered with 503. Without its stream a page still works, but does not go on by itself. */
export const maxViewers = 200

type Deps = {
  viewers: Pick<Viewers, 'join'>
  /** Undefined: everybody may listen. */
  people: Pick<People, 'identify'> | undefined
  clock: Pick<Clock, 'monotonicMs' | 'wait'>
  /** Ends the streams. */
  signal: AbortSignal
}

/** Adds `/events`. */
export function addNews(app: Hono<Env>, { viewers, people, clock, signal }: Deps): void {
  /** Whether whoever opened a stream would still be let in by what they brought: sessions end, and keys are exchanged. */
  const isStillIn = async (context: Context<Env>): Promise<boolean> =>
    people === undefined || (await people.identify((name) => headersOf(context, name))) !== undefined
  app.get('/events', (context) => {
    const changes = createBell()
    const viewer = viewers.join(changes.ring)
    if (viewer === undefined) return problem(context, 503, `${maxViewers} people are looking already`)
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
          // Who is no longer in asks for the page, is refused, and learns it by that.
          await stream.writeSSE({ event: rang || !isIn ? 'changed' : 'alive', data: '' })
        }
      } finally {
        viewer.leave()
      }
    })
  })
}

/** Remembers that it was rung until somebody has listened. */
function createBell(): { ring(): void; rung(limit: (signal: AbortSignal) => Promise<void>): Promise<boolean> } {
  let isRung = false
  let listener: (() => void) | undefined
  return {
    ring() {
      isRung = true
      listener?.()
    },
    /** True when it was rung, false when the limit, which the signal ends, came first. */
    async rung(limit) {
      if (!isRung) {
        const heard = new AbortController()
        listener = () => heard.abort()
        await limit(heard.signal)
        listener = undefined
      }
      const was = isRung
      isRung = false
      return was
    },
  }
}
