/**
 * The status page as a hono app: what runs on each gateway, since when, and what to do, for people without kubectl. It only reads.
 */
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { streamSSE } from 'hono/streaming'
import type { Clock } from '../clock.ts'
import { deadline, pause } from '../clock.ts'
import { fleetView } from '../fleet/fleet-view.ts'
import type { FleetFacts } from '../fleet/facts.ts'
import type { FleetView } from '../fleet/view.ts'
import { guard } from '../http/guard.ts'
import { problem } from '../http/problem.ts'
import { icon, script, style } from './assets.ts'
import { messagePage, overviewPage, type PageContext, syncPage } from './page.ts'
import { parseSelection } from './selection.ts'
import { createViewers } from './viewers.ts'
import { wordsFor } from './words.ts'

export type StatusPageDeps = {
  facts(): FleetFacts
  /** Calls `changed` whenever the facts are others; returns a function that ends it. */
  subscribe(changed: () => void): () => void
  /**
   * The names by which a browser may ask, without a port; undefined: any. A page of somebody else must not read this one by giving its own
   * name our address.
   */
  hosts: readonly string[] | undefined
  clock: Clock
  /** Ends the streams. */
  signal: AbortSignal
}

const maxViewers = 200
/** At most one second behind, with what it takes to fetch the page. */
const tellEveryMs = 500
/** A connection on which nothing is said is taken for a dead one by proxies. */
const aliveEveryMs = 15_000
/** A page is made anew at the latest after this, for the ages in it. */
const viewMs = 1_000
/** All who come through one proxy are one peer. */
const limits = { perSecond: 500, failuresPerPeer: 100 }

export function statusPageApp({ facts, subscribe, hosts, clock, signal }: StatusPageDeps): Hono {
  const viewers = createViewers({ max: maxViewers, everyMs: tellEveryMs, wait: (ms) => pause(clock, ms, signal) })
  let made: { view: FleetView; atMs: number } | undefined
  const end = subscribe(() => {
    made = undefined
    viewers.changed()
  })
  signal.addEventListener('abort', end, { once: true })
  const view = (): FleetView => {
    if (made === undefined || clock.monotonicMs() - made.atMs > viewMs) {
      made = { view: fleetView(facts(), clock.now()), atMs: clock.monotonicMs() }
    }
    return made.view
  }
  const contextOf = (acceptLanguage: string | undefined): PageContext => ({ words: wordsFor(acceptLanguage), now: clock.now() })

  const app = new Hono()
  app.use(guard(limits))
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
      referrerPolicy: 'no-referrer',
      xFrameOptions: 'DENY',
      // Whoever puts TLS before the page says this, for all of the host.
      strictTransportSecurity: false,
    }),
  )
  app.use(async (context, next) => {
    const host = new URL(context.req.url).hostname
    if (hosts !== undefined && !hosts.includes(host)) return problem(context, 421, `this page is not known as "${host}"`)
    await next()
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store')
    return undefined
  })
  for (const { path, type, text } of [style, script, icon]) {
    app.get(path, (context) => context.body(text, 200, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }))
  }
  app.get('/', async (context) =>
    context.html(
      await overviewPage(
        view(),
        parseSelection((name) => context.req.query(name)),
        contextOf(context.req.header('accept-language')),
      ),
    ),
  )
  app.get('/gatewaysyncs/:namespace/:name', async (context) => {
    const { namespace, name } = context.req.param()
    const own = contextOf(context.req.header('accept-language'))
    const sync = view().syncs.find((one) => one.namespace === namespace && one.name === name)
    if (sync === undefined) return context.html(await messagePage(own.words.notFound, own), 404)
    return context.html(await syncPage(sync, own))
  })
  app.get('/status.json', (context) => context.json(view()))
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
  app.notFound(async (context) => {
    const own = contextOf(context.req.header('accept-language'))
    return context.html(await messagePage(own.words.notFound, own), 404)
  })
  return app
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
