/**
 * Actions over HTTP: the question before each, the form that answers it, and who one is. A form does something only where the browser says
 * that it comes from a page of ours, where its token was made for this person, browser and act, and where they may.
 */
import type { Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Clock } from '../../clock.ts'
import { asFault, Fault, type Reason } from '../../fault.ts'
import type { FleetFacts, SyncFacts } from '../../fleet/facts.ts'
import { readBody } from '../../http/body.ts'
import { headersOf } from '../../http/peer.ts'
import { isCommitHash } from '../../gatewaysync/values.ts'
import { commitsOfWayBack } from '../commit-line.ts'
import { type Commits, wordsOf as commitWords } from '../commits.ts'
import { frame, type Html, type PageContext } from '../page.ts'
import type { Doing, Env, PagesOf, Person, SyncKey } from '../people.ts'
import { type Action, changeOf, parseAction } from './action.ts'
import { confirmBody, refusalBody } from './action-pages.ts'
import { type ActionWords, actionWordsIn, labelOf } from './action-words.ts'
import { type Form, formCookie, formCookiePattern, formToken, isFormToken } from './form-token.ts'
import { isOwnRequest } from './own-request.ts'

type Deps = PagesOf & {
  doing: Doing
  facts(): FleetFacts
  sees(person: Person, namespaces: readonly string[]): Promise<ReadonlySet<string>>
  commits: Commits | undefined
  clock: Pick<Clock, 'now' | 'uuid'>
}

/** Has the page say for a moment that something was done, also without the script and never in a link that is sent to somebody else. */
const doneCookie = 'cluster-sync-done'
const doneSeconds = 20

/** Whether whoever asks for the page of a GatewaySync has just done something about it. */
export function hasJustActed(context: Context): boolean {
  return getCookie(context, doneCookie) !== undefined
}

/** A form of ours has some hundred bytes. */
const maxFormBytes = 4 * 1024

type Refusal = keyof ActionWords['refused']
const statusOf = { right: 403, origin: 403, form: 403, rate: 429, state: 409, away: 503, large: 413 } as const satisfies Record<
  Refusal,
  number
>

const refusalOf: Partial<Record<Reason, Refusal>> = {
  Forbidden: 'right',
  TooManyRequests: 'rate',
  InvalidConfiguration: 'state',
  NotFound: 'state',
}

type Asked = { person: Person; sync: SyncFacts; action: Action; words: ActionWords; page: PageContext }

/** The commits that somebody goes between; undefined for what goes back to no commit. */
async function wayBack({ sync, action: { name, of }, page }: Asked, commits: Commits | undefined): Promise<Html | undefined> {
  if (name !== 'rollback' || !isCommitHash(of)) return undefined
  const { history = [], published } = sync.status
  return commitsOfWayBack(of, sync.status, { words: await commitWords(commits, sync, [of, published?.commit]), history }, page)
}

/** Adds the routes; whoever comes to them is known. */
export function addActions(app: Hono<Env>, { doing, facts, sees, contextOf, wordsOf, commits, clock }: Deps): void {
  const path = '/gatewaysyncs/:namespace/:name/actions/:action'
  const refuse = async (context: Context<Env>, { sync, words, page }: Asked, why: Refusal, detail?: string): Promise<Response> => {
    deleteCookie(context, doneCookie, { path: pathOf(sync), secure: true })
    const body = refusalBody(sync, words.refused[why], detail, words)
    return context.html(await frame(`${sync.namespace}/${sync.name}`, body, page), statusOf[why])
  }
  /** Undefined where there is no such action, or nothing that the person sees; a refusal while nobody can say. */
  const asked = async (context: Context<Env, typeof path>): Promise<Asked | Response | undefined> => {
    const { namespace, name, action: named } = context.req.param()
    const person = context.get('person')
    const action = parseAction(named, context.req.query('of'))
    const sync = facts().syncs.find((one) => one.namespace === namespace && one.name === name)
    // Nobody is asked about what is not there, however many names somebody makes up.
    if (person === undefined || action === undefined || sync === undefined) return undefined
    const words = wordsOf(context)
    const it = { person, sync, action, words: actionWordsIn(words.language), page: { ...contextOf(words), isStill: true } }
    try {
      return (await sees(person, [namespace])).has(namespace) ? it : undefined
    } catch {
      return await refuse(context, it, 'away')
    }
  }
  /** What stands against it already, before it is asked or done. */
  const fault = async (context: Context<Env>, asked: Asked, error: unknown): Promise<Response> => {
    const { reason, message } = asFault(error)
    const why = refusalOf[reason] ?? 'away'
    return await refuse(context, asked, why, why === 'state' ? message : undefined)
  }
  app.get(path, async (context) => {
    const it = await asked(context)
    if (it === undefined) return await context.notFound()
    if (it instanceof Response) return it
    try {
      if (!(await doing.may(it.person, it.sync))) throw new Fault('Forbidden', 'no right to patch')
      changeOf(it.action, it.sync, { by: '', at: '', id: '' })
    } catch (error) {
      return await fault(context, it, error)
    }
    const keys = await doing.formKeys()
    if (keys.length === 0) return await refuse(context, it, 'away')
    const token = formToken(keys, formOf(browserOf(context, clock), it), clock.now())
    const about = await wayBack(it, commits)
    const all = it.page.words.allGatewaySyncs
    const body = confirmBody(it.sync, it.action, { token, person: it.person.name, words: it.words, all, about })
    return context.html(await frame(labelOf(it.action, it.words), body, it.page))
  })
  app.post(path, async (context) => {
    const it = await asked(context)
    if (it === undefined) return await context.notFound()
    if (it instanceof Response) return it
    const { namespace, name } = it.sync
    if (!isOurs(context)) return await refuse(context, it, 'origin')
    const body = await readBody(context.req.raw, maxFormBytes)
    if (body.kind !== 'whole') return await refuse(context, it, 'large')
    const token = new URLSearchParams(Buffer.from(body.bytes).toString('utf8')).get('token') ?? ''
    const form = formOf(getCookie(context, formCookie) ?? '', it)
    if (!isFormToken(await doing.formKeys(), form, token, clock.now())) return await refuse(context, it, 'form')
    try {
      await doing.act(it.person, { namespace, name }, it.action)
    } catch (error) {
      return await fault(context, it, error)
    }
    const page = pathOf(it.sync)
    setCookie(context, doneCookie, '1', { path: page, secure: true, httpOnly: true, sameSite: 'Strict', maxAge: doneSeconds })
    return context.redirect(page, 303)
  })
}

function pathOf({ namespace, name }: SyncKey): string {
  return `/gatewaysyncs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

/** Whether a form that was sent comes from a page of ours. */
export function isOurs(context: Context): boolean {
  const one = (name: string): string | undefined => {
    const values = headersOf(context, name)
    return values.length === 0 ? undefined : values.join(', ')
  }
  return isOwnRequest({ site: one('sec-fetch-site'), origin: one('origin'), host: one('host') })
}

/** The name of this browser among all others; it gets one where it has none. */
export function browserOf(context: Context, clock: Pick<Clock, 'uuid'>): string {
  const known = getCookie(context, formCookie)
  if (known !== undefined && formCookiePattern.test(known)) return known
  const made = Buffer.from(clock.uuid().replaceAll('-', ''), 'hex').toString('base64url')
  setCookie(context, formCookie, made, { path: '/', secure: true, httpOnly: true, sameSite: 'Strict' })
  return made
}

function formOf(browser: string, { person, sync, action }: { person: Person; sync: SyncKey; action: Action }): Form {
  return { browser, person, act: [sync.namespace, sync.name, action.name, action.of] }
}
