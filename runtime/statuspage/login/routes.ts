/**
 * Implements the OpenID Connect login over HTTP: the redirect to the provider and back, the session in a sealed cookie, and the logout.
 */
import type { Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import * as v from 'valibot'
import type { Clock } from '../../platform/clock.ts'
import { actionTextsIn, type LoginProblem, loginTextsIn } from '../locales/action-texts.ts'
import { isOurs } from '../routes/action-routes.ts'
import { frame } from '../views/page.ts'
import type { Env, PageRenderer, PageAuth, Person } from '../views/page-auth.ts'
import { type Attempt, type ClaimSettings, personByClaims, type Provider } from './claims.ts'
import { attemptCookie, seal, surplusAttempts, unseal } from './sealed.ts'

/** Browsers accept a cookie with this prefix only over HTTPS and for this host (RFC 6265bis, 4.1.3.2). */
const sessionCookie = '__Host-cluster-sync-session'
/** Maximum duration of a login at the provider. */
const attemptMinutes = 10

/** `keys` are derived from the Secret of the login, which all replicas share. */
export type LoginDeps = {
  provider: Provider
  settings: ClaimSettings & { sessionMs: number }
  /** The first key seals; empty while there is none. */
  keys(purpose: 'session' | 'login'): Promise<readonly Uint8Array[]>
  clock: Pick<Clock, 'now'>
}

/** `addTo` adds the routes of the login to the page. */
export type Login = Pick<PageAuth, 'identify'> & {
  addTo(app: Hono<Env>, pages: PageRenderer): void
}

const session = v.object({ name: v.string(), groups: v.array(v.string()) })
const begun = v.object({ state: v.string(), nonce: v.string(), verifier: v.string(), to: v.string() })

export const loginPath = '/login'
export const callbackPath = '/login/callback'
export const loggedOutPath = '/logged-out'

/** Identifies users by the cookie of their session, and serves the routes of the login. */
export function createLogin(deps: LoginDeps): Login {
  return {
    async identify(header) {
      const sealed = cookieOf(header('cookie'), sessionCookie)
      const parsed = v.safeParse(session, await unseal(await deps.keys('session'), sealed, deps.clock.now()))
      return parsed.success ? parsed.output : undefined
    },
    addTo(app, pages) {
      app.get(loginPath, (context) => beginLogin(deps, context, pages))
      app.get(callbackPath, (context) => finishLogin(deps, context, pages))
      app.post('/logout', (context) => logOut(deps, context, pages))
      app.get(loggedOutPath, (context) => loggedOutPage(context, pages, undefined))
    },
  }
}

async function beginLogin({ keys, provider, clock }: LoginDeps, context: Context<Env>, pages: PageRenderer): Promise<Response> {
  const own = await keys('login')
  if (own.length === 0) return await problemPage(context, pages, 'key', 503)
  const begun = await provider.begin()
  if (begun === undefined) return await problemPage(context, pages, 'away', 503)
  const until = clock.now().add({ minutes: attemptMinutes })
  const sealed = (await seal(own, { ...begun.attempt, to: returnPath(context.req.query('to')) }, until)) ?? ''
  for (const name of surplusAttempts(getCookie(context), sealed.length)) forget(context, name)
  keep(context, attemptCookie(begun.attempt.state), sealed, attemptMinutes * 60)
  return context.redirect(begun.url, 303)
}

async function finishLogin({ keys, provider, settings, clock }: LoginDeps, context: Context<Env>, pages: PageRenderer): Promise<Response> {
  const cookie = attemptCookie(context.req.query('state') ?? '')
  const attempt = v.safeParse(begun, await unseal(await keys('login'), getCookie(context, cookie), clock.now()))
  forget(context, cookie)
  if (!attempt.success) return await problemPage(context, pages, 'attempt', 400)
  const { to, ...rest } = attempt.output
  const logged = await finished(provider, new URL(context.req.url).search, rest, settings)
  if ('why' in logged) return await problemPage(context, pages, logged.why, logged.why === 'failed' ? 400 : 403, logged.detail)
  const until = clock.now().add({ milliseconds: settings.sessionMs })
  const sealed = await seal(await keys('session'), { name: logged.person.name, groups: logged.person.groups }, until)
  if (sealed === undefined) return await problemPage(context, pages, 'overage', 403)
  keep(context, sessionCookie, sealed, Math.floor(settings.sessionMs / 1000))
  return context.redirect(to, 303)
}

async function logOut({ provider }: LoginDeps, context: Context<Env>, pages: PageRenderer): Promise<Response> {
  if (!isOurs(context)) return await problemPage(context, pages, 'origin', 403)
  forget(context, sessionCookie)
  const elsewhere = await provider.logoutUrl()
  // The form-action policy of the page allows a form to redirect to this host only, so refresh is used.
  if (elsewhere !== undefined) context.header('refresh', `0; url=${elsewhere}`)
  return await loggedOutPage(context, pages, elsewhere)
}

async function problemPage(
  context: Context<Env>,
  { contextOf, textsFor }: PageRenderer,
  why: LoginProblem,
  status: 400 | 403 | 503,
  detail?: string,
): Promise<Response> {
  const own = contextOf(textsFor(context))
  const texts = loginTextsIn(own.texts.language)
  const body = html`<main>
    <section class="card narrow">
      <p>${texts.problems[why]}</p>
      ${detail === undefined ? '' : html`<p class="quiet"><code>${detail}</code></p>`}
      <p><a class="button primary" href="${loginPath}">${texts.again}</a></p>
    </section>
  </main>`
  return context.html(await frame(texts.title, body, { ...own, account: undefined, isStill: true }), status)
}

/** `elsewhere`: the page that ends the session at the provider, if it has one. */
async function loggedOutPage(
  context: Context<Env>,
  { contextOf, textsFor }: PageRenderer,
  elsewhere: string | undefined,
): Promise<Response> {
  const own = contextOf(textsFor(context))
  const texts = actionTextsIn(own.texts.language)
  const body = html`<main>
    <section class="card narrow">
      <p>${texts.loggedOut}</p>
      <p>
        <a class="button primary" href="${loginPath}">${texts.logIn}</a>
        ${elsewhere === undefined ? '' : html`<a class="button" href="${elsewhere}">${texts.alsoThere}</a>`}
      </p>
    </section>
  </main>`
  return context.html(await frame(own.texts.title, body, { ...own, account: undefined, isStill: true }))
}

type Logged = { person: Person } | { why: LoginProblem; detail?: string }

async function finished(provider: Provider, query: string, attempt: Attempt, settings: ClaimSettings): Promise<Logged> {
  const answer = await provider.finish(query, attempt)
  if (answer.kind === 'failed') return { why: 'failed' }
  if (answer.kind === 'refused') return { why: 'refused', detail: answer.error.slice(0, 100) }
  const person = personByClaims(answer.claims, settings)
  return typeof person === 'string' ? { why: person } : { person }
}

function keep(context: Context, name: string, value: string, maxAge: number): void {
  // The provider redirects the browser by a link, with which Lax cookies are sent.
  setCookie(context, name, value, { path: '/', secure: true, httpOnly: true, sameSite: 'Lax', maxAge })
}

function forget(context: Context, name: string): void {
  deleteCookie(context, name, { path: '/', secure: true, httpOnly: true, sameSite: 'Lax' })
}

/** Ignores duplicate cookies: another host of the domain may have set one. `__Host-` prevents this in browsers that support it. */
function cookieOf(headers: readonly string[], name: string): string | undefined {
  const pairs = headers
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
  return pairs.length === 1 ? pairs[0]?.slice(name.length + 1) : undefined
}

/**
 * Validates the path to return to after a login: only pages of the status page are allowed. Pure.
 */
const returnPages = /^\/(?:gatewaysyncs\/[A-Za-z0-9%._~/-]*|account)?(?:\?[A-Za-z0-9%._~=&+*-]*)?$/
const maxLength = 1_024

/** Returns `/` for any other address. */
function returnPath(requested: string | undefined): string {
  return requested !== undefined && requested.length <= maxLength && returnPages.test(requested) && !requested.includes('//')
    ? requested
    : '/'
}
