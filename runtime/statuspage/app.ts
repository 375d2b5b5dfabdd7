/**
 * The status page as a hono app: what runs on each gateway, since when, and what to do, for people without kubectl. It only reads.
 */
import { type Context, Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Clock } from '../clock.ts'
import { pause } from '../clock.ts'
import { asFault } from '../fault.ts'
import { fleetView } from '../fleet/fleet-view.ts'
import type { FleetFacts } from '../fleet/facts.ts'
import type { FleetView } from '../fleet/view.ts'
import { acceptsGzip } from '../http/accept.ts'
import { guard } from '../http/guard.ts'
import { problem } from '../http/problem.ts'
import { createUnread, type UnreadLimits } from '../http/unread.ts'
import { addPeople } from './account.ts'
import { actionWordsIn } from './actions/action-words.ts'
import { addActions } from './actions/routes.ts'
import { icon, script, style } from './assets.ts'
import type { Commits } from './commits.ts'
import { htmlOf, type Made } from './made.ts'
import { addNews, maxViewers } from './news.ts'
import { messagePage, overviewPage, type PageContext } from './page.ts'
import { addSyncPages, type ReadReport } from './sync-routes.ts'
import { parseSelection, queryOf } from './selection.ts'
import { type Env, type People, type SyncKey, visiblePart } from './people.ts'
import { refuse } from './refusal.ts'
import { createRendered, plain } from './rendered.ts'
import { createViewers } from './viewers.ts'
import { type Words, wordsFor } from './words.ts'

/** Of the controller, or of a standalone run. */
export type StatusPageDeps = {
  facts(): FleetFacts
  /** Calls `changed` whenever the facts are others; returns a function that ends it. */
  subscribe(changed: () => void): () => void
  /**
   * The names by which a browser may ask, without a port; undefined: any. A page of somebody else must not read this one by giving its own
   * name our address.
   */
  hosts: readonly string[] | undefined
  /** Who may see what; undefined: everybody sees all. */
  people?: People | undefined
  /** The page says that there is no login. */
  isOpen: boolean
  /** What is known of commits; absent: nothing but what the status says. */
  commits?: Commits | undefined
  /** All of a gateway's report; absent: pages show what is kept of it. */
  report?: ReadReport | undefined
  clock: Clock
  /** Ends the streams. */
  signal: AbortSignal
  /** What answers may hold until they are read. */
  unread?: UnreadLimits
}

const mebibyte = 1024 * 1024
/** At most one second behind, with what it takes to fetch the page. */
const tellEveryMs = 500
/** A page is made anew at the latest after this, for the ages in it. */
const viewMs = 1_000
/** Pages that are kept as they are sent, of some ten kilobytes each. */
const keptPages = 64
/** All who come through one proxy are one peer. */
const limits = { perSecond: 500, failuresPerPeer: 100 }
/** All pages of two hundred viewers fit, and none of it takes long to read; only data of large fleets is more than some ten kilobytes. */
const usualUnread: UnreadLimits = { totalBytes: 16 * mebibyte, ofOneBytes: 8 * mebibyte, waitMs: 5_000, endAfterMs: 60_000 }
/** What decompressing takes for each who does not take gzip, with what its connection buffers. */
const unpackingBytes = 96 * 1024

/** A browser runs no script but ours, shows the page in no frame, and tells nobody where somebody came from. */
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
  // To us a browser says which page a form came from.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  // Whoever puts TLS before the page says this, for all of the host.
  strictTransportSecurity: false,
})

/** The app of the page. With `people` every answer is for whoever `identify` believes; others get 401, and 503 while nobody can say what they see. */
export function statusPageApp({ facts, subscribe, hosts, people, isOpen, commits, clock, signal, ...more }: StatusPageDeps): Hono<Env> {
  const unread = createUnread(more.unread ?? usualUnread, clock)
  const rendered = createRendered(keptPages)
  let made: { view: FleetView; atMs: number } | undefined
  const viewers = createViewers({
    max: maxViewers,
    everyMs: tellEveryMs,
    wait: (ms) => pause(clock, ms, signal),
    // With the viewers, and not with each change: a fleet that takes a commit changes hundreds of times a second.
    before: () => (made = undefined),
  })
  signal.addEventListener('abort', subscribe(viewers.changed), { once: true })
  const view = (): FleetView => {
    if (made === undefined || clock.monotonicMs() - made.atMs > viewMs) {
      made = { view: fleetView(facts(), clock.now()), atMs: clock.monotonicMs() }
      rendered.forget()
    }
    return made.view
  }
  const contextOf = (words: Words): PageContext => {
    const account = people === undefined ? {} : { account: actionWordsIn(words.language).account }
    return { words, now: clock.now(), isOpen, ...account }
  }
  const wordsOf = (context: Context): Words => wordsFor(context.req.header('accept-language'))
  const pages = { contextOf, wordsOf }
  /** Whether whoever asks may do something about it; not while nobody can say. */
  const mayAct = async (context: Context<Env>, sync: SyncKey): Promise<boolean> => {
    const person = context.get('person')
    // Nobody is asked about what is not there or not seen, however many names somebody makes up.
    const isThere = facts().syncs.some(({ namespace, name }) => namespace === sync.namespace && name === sync.name)
    if (person === undefined || people?.doing === undefined || !isThere) return false
    try {
      return (await people.sees(person, [sync.namespace])).has(sync.namespace) && (await people.doing.may(person, sync))
    } catch {
      return false
    }
  }
  /** Answers with what `make` makes of the view, compressed where the caller takes that. `key` names it, whatever the language. */
  const answer = async (context: Context<Env>, key: string, make: (view: FleetView, context: PageContext) => Made): Promise<Response> => {
    const words = wordsOf(context)
    const person = context.get('person')
    let seen: ReadonlySet<string> | undefined
    try {
      if (person !== undefined) seen = await people?.sees(person, namespacesOf(view()))
    } catch (error) {
      return await refuse(context, 'away', pages, asFault(error).reason)
    }
    // Only now, or a page of before would be kept beside those of a view that was made meanwhile.
    const all = view()
    const page = make(seen === undefined ? all : visiblePart(all, seen), contextOf(words))
    const headers = { 'content-type': page.type, vary: 'accept-encoding, accept-language' }
    const bytes = await rendered.of(`${words.language} ${keyOf(seen)} ${key}`, page.text)
    const isPlain = !acceptsGzip(context.req.header('accept-encoding'))
    const held = bytes.byteLength + (isPlain ? unpackingBytes : 0)
    if (!(await unread.hold(context, held, person?.name))) return await refuse(context, 'busy', pages)
    return isPlain
      ? context.body(plain(bytes), page.status, headers)
      : context.body(bytes, page.status, { ...headers, 'content-encoding': 'gzip' })
  }

  const app = new Hono<Env>()
  app.use(guard(limits))
  app.use(protectiveHeaders)
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
  if (people !== undefined) addPeople(app, people, pages)
  app.get('/', (context) => {
    const selection = parseSelection((name) => context.req.query(name))
    return answer(context, `/${queryOf(selection, selection.page)}`, (view, own) => htmlOf(() => overviewPage(view, selection, own)))
  })
  // On this machine alone, or to those who have said who they are, lines of files are shown.
  const hidesLines = people === undefined && hosts === undefined
  addSyncPages(app, { answer, facts, mayAct, commits, report: more.report, hidesLines, signal })
  if (people?.doing !== undefined) addActions(app, { doing: people.doing, sees: people.sees, facts, ...pages, commits, clock })
  app.get('/status.json', (context) =>
    answer(context, 'json', (view) => ({ type: 'application/json', status: 200, text: async () => JSON.stringify(view) })),
  )
  addNews(app, { viewers, people, clock, signal })
  app.notFound(async (context) => {
    const own = contextOf(wordsOf(context))
    return context.html(await messagePage(own.words.notFound, own), 404)
  })
  return app
}

function namespacesOf({ syncs }: FleetView): string[] {
  return [...new Set(syncs.map(({ namespace }) => namespace))]
}

/** People who see the same get the same page. */
function keyOf(seen: ReadonlySet<string> | undefined): string {
  return seen === undefined ? 'all' : JSON.stringify([...seen].toSorted())
}
