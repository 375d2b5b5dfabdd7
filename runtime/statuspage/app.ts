/**
 * Serves the status page as a Hono app: what runs on each gateway, since when, and what to do, for users without kubectl. It only reads.
 */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { secureHeaders } from 'hono/secure-headers'
import { type Clock, pause } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import { fleetView } from '../fleet/fleet-view.ts'
import type { FleetFacts } from '../fleet/facts.ts'
import type { ClusterView, FleetView } from '../fleet/view.ts'
import { acceptsGzip } from '../http/headers.ts'
import { createPeers, headersOf, type Peers, peerFrom } from '../http/client-address.ts'
import { problem } from '../http/problem.ts'
import { createUnread, type UnreadLimits } from '../http/unread-answers.ts'
import { type ActionTexts, actionTextsIn } from './locales/action-texts.ts'
import { addActions } from './routes/action-routes.ts'
import { icon, script, style } from './client/assets.ts'
import type { Commits } from './views/commits.ts'
import { addServerSentEvents, createViewers } from './routes/server-sent-events.ts'
import { frame, type Html, messagePage, overviewPage, type PageContext } from './views/page.ts'
import { addSyncPages, type ReadReport } from './routes/sync-routes.ts'
import { parseSelection, queryOf } from './views/selection.ts'
import { type Env, type PageRenderer, type PageAuth, type Person, type SyncName, visiblePart } from './views/page-auth.ts'
import { isNavigation, refuse } from './views/refusal.ts'
import { createRendered, htmlOf, type LazyResponse, plain, type Rendered } from './routes/rendered.ts'
import { acceptedTexts } from './locales/texts.ts'
import { loginPath } from './login/routes.ts'
import { guard } from '../http/limits.ts'

/** The dependencies, in the controller or in a standalone run. */
export type StatusPageDeps = {
  facts(): FleetFacts
  /**
   * The fleets of other clusters, for users who may see every namespace of this one; no other user, and no user without a login, sees them.
   */
  clusters?(): readonly ClusterView[]
  /** Calls `changed` whenever the facts change; returns a function that unsubscribes. */
  subscribe(changed: () => void): () => void
  /**
   * The host names that a request may use, without a port; undefined: any. Prevents DNS rebinding: another site must not read this page by resolving
   * its own name to our address.
   */
  hosts: readonly string[] | undefined
  /** Authentication and permissions; undefined: everyone sees everything. */
  auth?: PageAuth | undefined
  /** The page has no login and shows a note. */
  isOpen: boolean
  /** Reads commits; absent: the page shows only the data of the status. */
  commits?: Commits | undefined
  /** Reads a complete report; absent: pages show the kept part of it. */
  report?: ReadReport | undefined
  clock: Clock
  /** Ends the streams. */
  signal: AbortSignal
  /** Proxies whose X-Forwarded-For is trusted: addresses or `address/prefix`. */
  trustedProxies?: readonly string[]
  /** Limits for responses that clients have not read yet. */
  unread?: UnreadLimits
}

const mebibyte = 1024 * 1024
/** Minimum interval between notifications, so that a page is at most one second old, including the time to fetch it. */
const notifyEveryMs = 500
/** Maximum age of a rendered view, because it contains ages. */
const viewMs = 1_000
/** Maximum number of cached rendered pages, of some ten kilobytes each. */
const keptPages = 64
/** All clients behind a proxy that is not trusted count as one peer. */
const limits = { perSecond: 500, failuresPerPeer: 100 }
const userLimits = { ...limits, callsPerPeer: 100 }
/** Enough for the pages of two hundred viewers; only the data of large fleets exceeds some ten kilobytes. */
const defaultUnread: UnreadLimits = { totalBytes: 16 * mebibyte, perReaderBytes: 8 * mebibyte, waitMs: 5_000, endAfterMs: 60_000 }
/** Memory for decompression for a client without gzip, including the buffers of its connection. */
const unpackingBytes = 96 * 1024

/** Browsers run only our script, show the page in no frame, and send no referrer to other sites. */
const protectiveHeaders = secureHeaders({
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
  // The referrer shows which page a form came from.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  // The TLS proxy in front of the page sets this header for the whole host.
  strictTransportSecurity: false,
})

/** Builds the app. With `auth`, every request needs an authenticated user; others get 401, and 503 while permissions cannot be read. */
export function statusPageApp(deps: StatusPageDeps): Hono<Env> {
  const { facts, subscribe, hosts, auth, commits, clock, signal } = deps
  const peers = createPeers(deps.trustedProxies ?? [])
  const pages = pagesOf(deps)
  const answers = new PageAnswers(deps, pages, peers)
  const viewers = createViewers({
    everyMs: notifyEveryMs,
    wait: (ms) => pause(clock, ms, signal),
    // Reset before viewers are notified, not at each change: a fleet that applies a commit changes hundreds of times a second.
    before: () => answers.forget(),
  })
  signal.addEventListener('abort', subscribe(viewers.changed), { once: true })
  const app = new Hono<Env>()
  addProtection(app, deps, peers)
  for (const { path, type, text } of [style, script, icon]) {
    app.get(path, (context) => context.body(text, 200, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }))
  }
  if (auth !== undefined) addAuthentication(app, auth, pages)
  const answer: PageAnswers['of'] = (context, key, make) => answers.of(context, key, make)
  app.get('/', (context) => {
    const selection = parseSelection((name) => context.req.query(name))
    return answer(context, `/${queryOf(selection, selection.page)}`, (view, own) => htmlOf(() => overviewPage(view, selection, own)))
  })
  // Lines of files are shown only on this machine, or to authenticated users.
  const hidesLines = auth === undefined && hosts === undefined
  const mayAct = async (context: Context<Env>, sync: SyncName): Promise<boolean> => await mayChange(deps, context.get('person'), sync)
  addSyncPages(app, { answer, facts, mayAct, commits, report: deps.report, hidesLines, signal })
  if (auth?.actions !== undefined) addActions(app, { actions: auth.actions, sees: auth.sees, facts, ...pages, commits, clock })
  app.get('/status.json', (context) =>
    answer(context, 'json', (view) => ({ type: 'application/json', status: 200, text: async () => JSON.stringify(view) })),
  )
  addServerSentEvents(app, { viewers, auth, peers, clock, signal })
  app.notFound(async (context) => {
    const own = pages.contextOf(pages.textsFor(context))
    return context.html(await messagePage(own.texts.notFound, own), 404)
  })
  return app
}

function pagesOf({ auth, isOpen, clock }: StatusPageDeps): PageRenderer {
  return {
    contextOf(texts) {
      const account = auth === undefined ? {} : { account: actionTextsIn(texts.language).account }
      return { texts, now: clock.now(), isOpen, ...account }
    },
    textsFor: (context) => acceptedTexts(context.req.header('accept-language')),
  }
}

/** Adds what applies to every request: the limits per client, headers, and the check of the host name. */
function addProtection(app: Hono<Env>, { auth, hosts }: StatusPageDeps, peers: Peers): void {
  const nameOf = async (context: Context<Env>): Promise<string | undefined> =>
    (await auth?.identify((name) => headersOf(context, name)))?.name
  app.use(guard<Env>(limits, { settings: userLimits, nameOf }, peers))
  app.use(protectiveHeaders)
  app.use(async (context, next) => {
    const host = new URL(context.req.url).hostname
    if (hosts !== undefined && !hosts.includes(host)) return problem(context, 421, `this page is not known as "${host}"`)
    await next()
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store')
    return undefined
  })
}

/** Whether the user may change the GatewaySync; false while permissions cannot be read. */
async function mayChange({ facts, auth }: StatusPageDeps, person: Person | undefined, sync: SyncName): Promise<boolean> {
  // Checks existence and visibility first, so that requests with invented names cause no permission checks.
  const isThere = facts().syncs.some(({ namespace, name }) => namespace === sync.namespace && name === sync.name)
  if (person === undefined || auth?.actions === undefined || !isThere) return false
  try {
    return (await auth.sees(person, [sync.namespace])).has(sync.namespace) && (await auth.actions.may(person, sync))
  } catch {
    return false
  }
}

type Shown = { own: FleetView; clusters: readonly ClusterView[] }

/** Answers with pages of the fleet, which are rendered once for all users with the same permissions. */
class PageAnswers {
  readonly #deps: StatusPageDeps
  readonly #pages: PageRenderer
  readonly #peers: Peers
  readonly #unread: ReturnType<typeof createUnread>
  readonly #rendered: Rendered
  #made: (Shown & { atMs: number }) | undefined

  constructor(deps: StatusPageDeps, pages: PageRenderer, peers: Peers) {
    this.#deps = deps
    this.#pages = pages
    this.#peers = peers
    this.#unread = createUnread(deps.unread ?? defaultUnread, deps.clock)
    this.#rendered = createRendered(keptPages, deps.clock)
  }

  /** Drops the view, because the facts have changed. */
  forget(): void {
    this.#made = undefined
  }

  /** Responds with the page that `make` renders, compressed if the client accepts gzip. `key` identifies the page in every language. */
  async of(context: Context<Env>, key: string, make: (view: FleetView, context: PageContext) => LazyResponse): Promise<Response> {
    const { auth } = this.#deps
    const texts = this.#pages.textsFor(context)
    const person = context.get('person')
    let seen: ReadonlySet<string> | undefined
    let seesClusters = false
    try {
      if (person !== undefined) seen = await auth?.sees(person, namespacesOf(this.#view().own))
      if (person !== undefined && this.#view().clusters.length > 0) seesClusters = (await auth?.seesAll?.(person)) ?? false
    } catch (error) {
      return await refuse(context, 'unavailable', this.#pages, asFault(error).reason)
    }
    // Read after the permission check; otherwise a stale page could be cached with a newer view.
    const { own, clusters } = this.#view()
    const visible = seen === undefined ? own : visiblePart(own, seen)
    const page = make(seesClusters ? { ...visible, clusters } : visible, this.#pages.contextOf(texts))
    const headers = { 'content-type': page.type, vary: 'accept-encoding, accept-language' }
    const reader = person?.name ?? peerFrom(context, this.#peers)
    // Users with the same permissions share a cached page.
    const permissions = seen === undefined ? 'all' : JSON.stringify([...seen].toSorted())
    const bytes = await this.#rendered.of(`${texts.language} ${permissions} ${seesClusters} ${key}`, reader, () => page.text())
    if (bytes === undefined) return await refuse(context, 'busy', this.#pages)
    const isPlain = !acceptsGzip(context.req.header('accept-encoding'))
    const held = bytes.byteLength + (isPlain ? unpackingBytes : 0)
    if (!(await this.#unread.hold(context, held, reader))) return await refuse(context, 'busy', this.#pages)
    return isPlain
      ? context.body(plain(bytes), page.status, headers)
      : context.body(bytes, page.status, { ...headers, 'content-encoding': 'gzip' })
  }

  #view(): Shown {
    const { facts, clusters, clock } = this.#deps
    if (this.#made === undefined || clock.monotonicMs() - this.#made.atMs > viewMs) {
      this.#made = { own: fleetView(facts(), clock.now()), clusters: clusters?.() ?? [], atMs: clock.monotonicMs() }
      this.#rendered.forget()
    }
    return this.#made
  }
}

function namespacesOf({ syncs }: FleetView): string[] {
  return [...new Set(syncs.map(({ namespace }) => namespace))]
}

/**
 * Authenticates all routes added after it: unauthenticated users are redirected to our login, if there is one, and otherwise refused. Adds the routes
 * of the login and `/account`.
 */
function addAuthentication(app: Hono<Env>, { identify, login }: Pick<PageAuth, 'identify' | 'login'>, pages: PageRenderer): void {
  login?.addTo(app, pages)
  app.use(async (context, next) => {
    const person = await identify((name) => headersOf(context, name))
    if (person === undefined) {
      if (login === undefined) return await refuse(context, 'unidentified', pages)
      if (!isNavigation(context)) return problem(context, 401, 'log in to see this')
      const { pathname, search } = new URL(context.req.url)
      return context.redirect(`${loginPath}?to=${encodeURIComponent(`${pathname}${search}`)}`, 303)
    }
    context.set('person', person)
    await next()
    return undefined
  })
  app.get('/account', async (context) => {
    const person = context.get('person')
    if (person === undefined) return await context.notFound()
    const own = pages.contextOf(pages.textsFor(context))
    const texts = actionTextsIn(own.texts.language)
    return context.html(
      await frame(texts.account, accountBody(person, { texts, all: own.texts.allGatewaySyncs, logsOut: login !== undefined }), {
        ...own,
        account: undefined,
        isStill: true,
      }),
    )
  })
}

type Choices = { texts: ActionTexts; all: string; logsOut: boolean }

function accountBody({ name, groups }: Person, { texts, all, logsOut }: Choices): Html {
  return html`<main>
    <nav><a href="/">${all}</a></nav>
    <section class="card narrow">
      <dl>
        <dt>${texts.youAre}</dt>
        <dd><code>${name}</code></dd>
        <dt>${texts.groups}</dt>
        <dd>
          ${
            groups.length === 0
              ? texts.noGroups
              : html`<ul class="plain">
                  ${groups.map((group) => html`<li><code>${group}</code></li>`)}
                </ul>`
          }
        </dd>
      </dl>
      ${logsOut ? html`<form method="post" action="/logout"><button>${texts.logOut}</button></form>` : ''}
    </section>
  </main>`
}
