/**
 * Serves actions over HTTP: the confirmation page, its form, and the account. A form is accepted only if the browser reports that it comes from our
 * page, its token was issued for this user, browser and action, and the user has permission.
 */
import type { Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Clock } from '../../platform/clock.ts'
import { asFault, Fault, type Reason } from '../../platform/fault.ts'
import type { FleetFacts, SyncFacts } from '../../fleet/facts.ts'
import { readBody } from '../../http/body.ts'
import { headersOf } from '../../http/client-address.ts'
import { isCommitHash } from '../../api/values.ts'
import { type Commits, rollbackPair, readSummaries } from '../views/commits.ts'
import { frame, type Html, type PageContext } from '../views/page.ts'
import type { UserActions, Env, PageRenderer, Person, SyncName } from '../views/page-auth.ts'
import { type Action, changeOf, parseAction } from '../actions/action.ts'
import { confirmBody, refusalBody } from '../views/action-pages.ts'
import { type ActionTexts, actionTextsIn, labelOf } from '../locales/action-texts.ts'
import { type Form, formCookie, formCookiePattern, formToken, isFormToken } from './form-token.ts'

type Deps = PageRenderer & {
  actions: UserActions
  facts(): FleetFacts
  sees(person: Person, namespaces: readonly string[]): Promise<ReadonlySet<string>>
  commits: Commits | undefined
  clock: Pick<Clock, 'now' | 'uuid'>
}

/** Shows a confirmation after an action, without the script and without a link that could be shared. */
const doneCookie = 'cluster-sync-done'
const doneSeconds = 20

/** Whether the user has just acted on the GatewaySync of the page. */
export function hasJustActed(context: Context): boolean {
  return getCookie(context, doneCookie) !== undefined
}

/** Maximum size of a form; ours have some hundred bytes. */
const maxFormBytes = 4 * 1024

type Refusal = keyof ActionTexts['refused']
const statusByRefusal = { right: 403, origin: 403, form: 403, rate: 429, state: 409, away: 503, large: 413 } as const satisfies Record<
  Refusal,
  number
>

const refusalByReason: Partial<Record<Reason, Refusal>> = {
  Forbidden: 'right',
  TooManyRequests: 'rate',
  InvalidConfiguration: 'state',
  NotFound: 'state',
}

type ActionRequest = { person: Person; sync: SyncFacts; action: Action; texts: ActionTexts; page: PageContext }

/** The commits before and after a rollback; undefined if the action does not go back to a commit. */
async function rollbackCommits(
  { sync, action: { name, of }, page }: ActionRequest,
  commits: Commits | undefined,
): Promise<Html | undefined> {
  if (name !== 'rollback' || !isCommitHash(of)) return undefined
  const { history = [], published } = sync.status
  return rollbackPair(of, sync.status, { summaries: await readSummaries(commits, sync, [of, published?.commit]), history }, page)
}

const path = '/gatewaysyncs/:namespace/:name/actions/:action'

/** Adds the routes; requests are already authenticated. */
export function addActions(app: Hono<Env>, deps: Deps): void {
  const answer = async (
    context: Context<Env, typeof path>,
    handle: (deps: Deps, context: Context<Env>, request: ActionRequest) => Promise<Response>,
  ): Promise<Response> => {
    const request = await readActionRequest(deps, context)
    if (request === undefined) return await context.notFound()
    return request instanceof Response ? request : await handle(deps, context, request)
  }
  app.get(path, (context) => answer(context, confirmPage))
  app.post(path, (context) => answer(context, act))
}

/** Undefined if the action does not exist or the user cannot see the GatewaySync; a refusal while permissions cannot be read. */
async function readActionRequest(
  { facts, sees, contextOf, textsFor }: Deps,
  context: Context<Env, typeof path>,
): Promise<ActionRequest | Response | undefined> {
  const { namespace, name, action: named } = context.req.param()
  const person = context.get('person')
  const action = parseAction(named, context.req.query('of'))
  const sync = facts().syncs.find((one) => one.namespace === namespace && one.name === name)
  // Checks existence first, so that requests with invented names cause no permission checks.
  if (person === undefined || action === undefined || sync === undefined) return undefined
  const texts = textsFor(context)
  const request = { person, sync, action, texts: actionTextsIn(texts.language), page: { ...contextOf(texts), isStill: true } }
  try {
    return (await sees(person, [namespace])).has(namespace) ? request : undefined
  } catch {
    return await refuse(context, request, 'away')
  }
}

async function confirmPage({ actions, commits, clock }: Deps, context: Context<Env>, request: ActionRequest): Promise<Response> {
  const { person, sync, action, texts, page } = request
  try {
    if (!(await actions.may(person, sync))) throw new Fault('Forbidden', 'no permission to patch')
    changeOf(action, sync, { by: '', at: '', id: '' })
  } catch (error) {
    return await impossible(context, request, error)
  }
  const keys = await actions.formKeys()
  if (keys.length === 0) return await refuse(context, request, 'away')
  const token = formToken(keys, formOf(browserOf(context, clock), request), clock.now())
  const about = await rollbackCommits(request, commits)
  const body = confirmBody(sync, action, { token, person: person.name, texts, all: page.texts.allGatewaySyncs, about })
  return context.html(await frame(labelOf(action, texts), body, page))
}

async function act({ actions, clock }: Deps, context: Context<Env>, request: ActionRequest): Promise<Response> {
  const { namespace, name } = request.sync
  if (!isOurs(context)) return await refuse(context, request, 'origin')
  const body = await readBody(context.req.raw, maxFormBytes)
  if (body.kind !== 'whole') return await refuse(context, request, 'large')
  const token = new URLSearchParams(Buffer.from(body.bytes).toString('utf8')).get('token') ?? ''
  const form = formOf(getCookie(context, formCookie) ?? '', request)
  if (!isFormToken(await actions.formKeys(), form, token, clock.now())) return await refuse(context, request, 'form')
  try {
    await actions.act(request.person, { namespace, name }, request.action)
  } catch (error) {
    return await impossible(context, request, error)
  }
  const page = pathOf(request.sync)
  setCookie(context, doneCookie, '1', { path: page, secure: true, httpOnly: true, sameSite: 'Strict', maxAge: doneSeconds })
  return context.redirect(page, 303)
}

/** Responds with the reason why the action is not possible. */
async function impossible(context: Context<Env>, request: ActionRequest, error: unknown): Promise<Response> {
  const { reason, message } = asFault(error)
  const why = refusalByReason[reason] ?? 'away'
  return await refuse(context, request, why, why === 'state' ? message : undefined)
}

async function refuse(context: Context<Env>, { sync, texts, page }: ActionRequest, why: Refusal, detail?: string): Promise<Response> {
  deleteCookie(context, doneCookie, { path: pathOf(sync), secure: true })
  const body = refusalBody(sync, texts.refused[why], detail, texts)
  return context.html(await frame(`${sync.namespace}/${sync.name}`, body, page), statusByRefusal[why])
}

function pathOf({ namespace, name }: SyncName): string {
  return `/gatewaysyncs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

/** Whether a form comes from one of our pages. */
export function isOurs(context: Context): boolean {
  const one = (name: string): string | undefined => {
    const values = headersOf(context, name)
    return values.length === 0 ? undefined : values.join(', ')
  }
  return isOwnRequest({ site: one('sec-fetch-site'), origin: one('origin'), host: one('host') })
}

/** The random id of this browser; sets the cookie if there is none. */
export function browserOf(context: Context, clock: Pick<Clock, 'uuid'>): string {
  const known = getCookie(context, formCookie)
  if (known !== undefined && formCookiePattern.test(known)) return known
  const made = Buffer.from(clock.uuid().replaceAll('-', ''), 'hex').toString('base64url')
  setCookie(context, formCookie, made, { path: '/', secure: true, httpOnly: true, sameSite: 'Strict' })
  return made
}

function formOf(browser: string, { person, sync, action }: { person: Person; sync: SyncName; action: Action }): Form {
  return { browser, person, act: [sync.namespace, sync.name, action.name, action.of] }
}

/**
 * Checks that a form comes from one of our pages: by Sec-Fetch-Site (W3C Fetch Metadata), which no script can set, or by Origin (RFC 6454)
 * in browsers without it. `host`: the Host header, with the port. A proxy may have changed it, which does not affect Sec-Fetch-Site.
 */
function isOwnRequest({ site, origin, host }: Readonly<Record<'site' | 'origin' | 'host', string | undefined>>): boolean {
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === host.toLowerCase()
}
