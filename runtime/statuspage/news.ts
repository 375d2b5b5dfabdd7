/**
 * How a browser learns that the page has changed: a stream of server-sent events, on which nothing is told but that.
 */
import type { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { deadline } from '../clock.ts'
import { problem } from '../http/problem.ts'
import type { Env } from './people.ts'
import type { Viewers } from './viewers.ts'

export const maxViewers = 200
/** A connection on which nothing is said is taken for a dead one by proxies. */
const aliveEveryMs = 15_000

/** Adds `/events`; `signal` ends the streams. */
export function addNews(app: Hono<Env>, viewers: Pick<Viewers, 'join'>, signal: AbortSignal): void {
  app.get('/events', (context) => {
    const changes = createBell()
    const viewer = viewers.join(changes.ring)
    if (viewer === undefined) return problem(context, 503, `${maxViewers} people are looking already`)
    return streamSSE(context, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      const over = AbortSignal.any([signal, gone.signal])
      try {
        while (!over.aborted) {
          const rang = await changes.rung(deadline(aliveEveryMs, over))
          if (!over.aborted) await (rang ? stream.writeSSE({ event: 'changed', data: '' }) : stream.write(': alive\n\n'))
        }
      } finally {
        viewer.leave()
      }
    })
  })
}

/** Remembers that it was rung until somebody has listened. */
function createBell(): { ring(): void; rung(signal: AbortSignal): Promise<boolean> } {
  let isRung = false
  let listener: (() => void) | undefined
  return {
    ring() {
      isRung = true
      listener?.()
    },
    /** True when it was rung, false when the signal came first. */
    async rung(signal) {
      if (!isRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          listener = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        listener = undefined
      }
      const was = isRung
      isRung = false
      return was
    },
  }
}
