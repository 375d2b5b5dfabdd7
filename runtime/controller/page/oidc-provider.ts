/**
 * Talks to the identity provider: authorization code with PKCE, state and nonce, by openid-client. Loaded on demand because of its memory.
 */
import {
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Clock } from '../../platform/clock.ts'
import { causeOf, readText, startCall } from '../../http/client.ts'
import type { Log } from '../../platform/log/log.ts'
import { tunnel } from '../../git/credentials/api-call.ts'
import { type Proxies, proxyFor } from '../../git/remote/proxy.ts'
import { type Claims, isIncomplete, type Provider } from '../../statuspage/login/claims.ts'
import { callbackPath, loggedOutPath } from '../../statuspage/login/routes.ts'
import type { LoginSecret, OidcSettings } from './login-secret.ts'
type Deps = { secret(): Promise<LoginSecret>; proxies: Proxies | undefined; clock: Pick<Clock, 'monotonicMs'>; log: Log }

/** For one call. */
const timeoutSeconds = 10
/** Provider metadata and keys have about ten kilobytes, claims of a user in many groups some more. */
const maxBodyBytes = 512 * 1024
/** How long provider metadata is cached; new token keys are fetched on demand. */
const keptMs = 3_600_000
/** How long a failed provider is not queried again. */
const failedMs = 3_000

/**
 * Sends no request until the first login. Metadata is cached for an hour; a failed provider is not queried again for three seconds. No
 * method throws: failures are logged at a limited rate and returned as values (`Provider`).
 */
export class OidcProvider implements Provider {
  readonly #settings: OidcSettings
  readonly #deps: Deps
  readonly #warn: (what: string, why: string) => void
  #known: { secret: LoginSecret; untilMs: number; found: Promise<Configuration> } | undefined

  constructor(settings: OidcSettings, deps: Deps) {
    this.#settings = settings
    this.#deps = deps
    this.#warn = createLimitedWarnings('the identity provider failed', deps)
  }

  async begin(): ReturnType<Provider['begin']> {
    const { externalURL, scopes } = this.#settings
    try {
      const config = await this.#found()
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      const url = buildAuthorizationUrl(config, {
        redirect_uri: `${externalURL}${callbackPath}`,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      })
      return { url: url.href, attempt }
    } catch (error) {
      this.#failed('provider metadata', error)
      return undefined
    }
  }

  async finish(query: string, { state, nonce, verifier }: Parameters<Provider['finish']>[1]): ReturnType<Provider['finish']> {
    try {
      const config = await this.#found()
      // The proxy in front may have changed the host name; this one is registered at the provider.
      const tokens = await authorizationCodeGrant(config, new URL(`${this.#settings.externalURL}${callbackPath}${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims: Claims = tokens.claims() ?? {}
      const { sub } = claims
      if (!isIncomplete(claims, this.#settings) || config.serverMetadata().userinfo_endpoint === undefined || typeof sub !== 'string')
        return { kind: 'claims', claims }
      const more = await fetchUserInfo(config, tokens.access_token, sub)
      return { kind: 'claims', claims: { ...more, ...claims } }
    } catch (error) {
      if (error instanceof AuthorizationResponseError) return { kind: 'refused', error: error.error }
      this.#failed('a login', error)
      return { kind: 'failed' }
    }
  }

  async logoutUrl(): Promise<string | undefined> {
    try {
      const config = await this.#found()
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      return buildEndSessionUrl(config, { post_logout_redirect_uri: `${this.#settings.externalURL}${loggedOutPath}` }).href
    } catch (error) {
      this.#failed('a logout', error)
      return undefined
    }
  }

  async #found(): Promise<Configuration> {
    const { secret, proxies, clock } = this.#deps
    const { issuer, clientID } = this.#settings
    const now = await secret()
    const isSame = this.#known?.secret.clientSecret === now.clientSecret && this.#known.secret.caBundle === now.caBundle
    if (this.#known === undefined || !isSame || clock.monotonicMs() >= this.#known.untilMs) {
      const options = { execute: [enableNonRepudiationChecks], timeout: timeoutSeconds, [customFetch]: fetchWith(now.caBundle, proxies) }
      const asked = discovery(new URL(issuer), clientID, {}, authenticateWith(now.clientSecret), options)
      const one = { secret: now, untilMs: clock.monotonicMs() + keptMs, found: asked }
      this.#known = one
      // Otherwise each request for `/login` would query the provider, which may be down because of overload.
      asked.catch(() => (one.untilMs = clock.monotonicMs() + failedMs))
    }
    return await this.#known.found
  }

  #failed(what: string, error: unknown): void {
    this.#warn(what, reasonsOf(error))
  }
}

/** Selects a method that the provider supports; the default is HTTP Basic (RFC 8414, 2). */
function authenticateWith(clientSecret: string): ClientAuth {
  return (server, ...rest) => {
    const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const by = taken.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
    by(clientSecret)(server, ...rest)
  }
}

/** Fetches through the proxy with the given CA and a bounded answer. Redirects are not followed. */
function fetchWith(caBundle: string | undefined, proxies: Proxies | undefined): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const target = new URL(url)
    const proxy = proxyFor({ protocol: target.protocol === 'http:' ? 'http' : 'https', host: target.hostname }, undefined, proxies)
    const within = signal ?? AbortSignal.timeout(timeoutSeconds * 1000)
    const way = proxy === undefined ? { agent: false as const } : await tunnel(target, new URL(proxy.url), {}, within)
    const trust = caBundle === undefined ? {} : { ca: caBundle }
    const sent = body === undefined || body === null ? undefined : textOf(body)
    const answer = await startCall(target, { ...trust, ...way, method, headers, signal: within }, sent).answered
    const text = await readText(answer, maxBodyBytes)
    if (text === undefined) throw new Error(`${target.origin} answered with more than ${maxBodyBytes / 1024} KiB`)
    const pairs = Object.entries(answer.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    )
    const status = answer.statusCode ?? 502
    return new Response(status === 204 || status === 304 ? null : text, { status, headers: pairs })
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error('openid-client sends forms only')
}

/** Returns the error messages without request data. */
function reasonsOf(error: unknown): string {
  const causes: string[] = []
  for (let cause = error; cause instanceof Error && causes.length < 3; cause = cause.cause) causes.push(causeOf(cause))
  return causes.join(': ')
}

const everyMs = 60_000

/**
 * Rate-limits warnings that unauthenticated users can cause, such as failed logins: one per step and minute, with the number of suppressed
 * ones. `subject`: what the warning is about, from a small set; warnings with the same subject share the limit. `message` is the log
 * message.
 */
export function createLimitedWarnings(
  message: string,
  { clock, log }: { clock: Pick<Clock, 'monotonicMs'>; log: Pick<Log, 'warn'> },
): (subject: string, detail: string) => void {
  const logged = new Map<string, { atMs: number; leftOut: number }>()
  return (subject, detail) => {
    const before = logged.get(subject)
    if (before !== undefined && clock.monotonicMs() - before.atMs < everyMs) {
      before.leftOut += 1
      return
    }
    logged.set(subject, { atMs: clock.monotonicMs(), leftOut: 0 })
    const count = before === undefined || before.leftOut === 0 ? {} : { count: before.leftOut }
    log.warn({ component: 'status-page', message: `${subject}: ${detail}`, ...count }, message)
  }
}
