/**
 * Installation tokens of GitHub Apps: requested with a JWT signed by the App's private key, cached while they are valid, and renewed by a
 * timer before they expire, so that no call of git has to wait for one.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { type Clock, deadline, pause, unlessAborted } from '../../platform/clock.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { Temporal } from '../../platform/temporal.ts'
import { type ApiAnswer, type ApiWay, callForJson } from './api-call.ts'

/** The App, its installation, and the key that authenticates it. `privateKey` is an RSA key in PEM. */
export type AppKey = {
  namespace: string
  /** Namespace, Secret and its version. Keyed by the numbers alone, one tenant would get another tenant's token. */
  owner: string
  appId: number
  installationId: number
  apiBaseURL: string
  privateKey: string
}

/** The cached tokens of one process. */
export type AppTokens = {
  /** A token valid for at least 2.5 more minutes when cached. Throws CredentialsInvalid, GithubAppRefused, and what `way` throws. */
  token(key: AppKey, way: (signal: AbortSignal) => Promise<ApiWay>, signal: AbortSignal): Promise<string>
  /** The git host refused the token: drops it, so that the next call requests another. */
  refused(key: AppKey): void
}

type Token = { text: string; expiresAt: Temporal.Instant }
type Entry = { token: Promise<Token>; usedMs: number; renewing: AbortController }

/** Seconds from now. GitHub accepts a JWT of ten minutes at most, and this machine's clock may be ahead of GitHub's. */
const jwtFromSeconds = -60
const jwtUntilSeconds = 540
const renewBeforeMs = 300_000
/** The delay between two attempts to renew a token that is still valid. */
const retryMs = 60_000
/** A token unused for this long is not renewed: its Secret may have been changed because the key was stolen. */
const usedWithinMs = 900_000
/** Timers take 24 days at most, and an API may name any time of expiry. */
const longestWaitMs = 86_400_000
const timeoutMs = 30_000
const maxTokens = 1_000

/** Holds at most 1,000 tokens; the namespace with the most loses one first. `stop` ends the timers. */
export function createAppTokens(clock: Clock, stop: AbortSignal): AppTokens {
  const entries = new FairCache<Entry>({ max: maxTokens, evicted: ({ renewing }) => renewing.abort() })
  const idOf = ({ owner, appId, installationId, apiBaseURL }: AppKey): string => JSON.stringify([owner, appId, installationId, apiBaseURL])
  const forget = (id: string): void => {
    entries.get(id)?.renewing.abort()
    entries.delete(id)
  }
  const lasts = (token: Token, ms: number): boolean => clock.now().until(token.expiresAt).total('milliseconds') > ms

  /** Renews the token while it is used; an unused token expires. */
  const keepFresh = async (id: string, entry: Entry, ask: (signal: AbortSignal) => Promise<Token>): Promise<void> => {
    const own = AbortSignal.any([stop, entry.renewing.signal])
    let token = await entry.token
    while (!own.aborted) {
      const untilRenewal = clock.now().until(token.expiresAt).total('milliseconds') - renewBeforeMs
      await pause(clock, Math.min(Math.max(untilRenewal, retryMs), longestWaitMs), own)
      if (own.aborted) return
      if (clock.monotonicMs() - entry.usedMs > usedWithinMs || !lasts(token, 0)) break
      try {
        token = await ask(own)
        entry.token = Promise.resolve(token)
      } catch {
        // The present token is still valid; a caller that needs the next one gets the fault.
      }
    }
    if (entries.get(id) === entry) forget(id)
  }

  return {
    async token(key, way, signal) {
      const id = idOf(key)
      const known = entries.get(id)
      const kept = known === undefined ? undefined : await unlessAborted(known.token, signal).catch(() => undefined)
      signal.throwIfAborted()
      if (known !== undefined && kept !== undefined && lasts(kept, renewBeforeMs / 2)) {
        known.usedMs = clock.monotonicMs()
        return kept.text
      }
      if (known === entries.get(id)) forget(id)
      const ask = async (own: AbortSignal): Promise<Token> => await askForToken(key, await way(own), clock, own)
      const running = entries.get(id)
      if (running !== undefined) return (await unlessAborted(running.token, signal)).text
      const entry: Entry = { token: ask(stop), usedMs: clock.monotonicMs(), renewing: new AbortController() }
      entries.set(key.namespace, id, entry)
      keepFresh(id, entry, ask).catch(() => {
        if (entries.get(id) === entry) forget(id)
      })
      return (await unlessAborted(entry.token, signal)).text
    },
    refused: (key) => forget(idOf(key)),
  }
}

async function askForToken(key: AppKey, way: ApiWay, clock: Clock, signal: AbortSignal): Promise<Token> {
  const jwt = await signJwt(key, clock)
  const url = `${key.apiBaseURL.replace(/\/+$/, '')}/app/installations/${key.installationId}/access_tokens`
  const host = new URL(url).host
  let answer: ApiAnswer
  try {
    const headers = { authorization: `Bearer ${jwt}`, accept: 'application/vnd.github+json' }
    answer = await callForJson({ url, headers }, way, deadline(timeoutMs, signal))
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof Fault ? error : new Fault('GithubAppRefused', `the API at ${host} cannot be reached: ${codeOf(error)}`)
  }
  const { token, expires_at: expiresAt } = (answer.body ?? {}) as { token?: unknown; expires_at?: unknown }
  if (answer.status !== 201 || typeof token !== 'string' || token === '' || typeof expiresAt !== 'string') {
    throw new Fault('GithubAppRefused', refusal(key, host, answer.status))
  }
  try {
    return { text: token, expiresAt: Temporal.Instant.from(expiresAt) }
  } catch (error) {
    throw new Fault('GithubAppRefused', `the API at ${host} gave a token without a time at which it ends`, { cause: asFault(error) })
  }
}

async function signJwt({ appId, privateKey }: AppKey, clock: Clock): Promise<string> {
  let key: KeyObject
  try {
    key = createPrivateKey(privateKey)
  } catch {
    // The library's message may contain a piece of the key.
    throw new Fault('CredentialsInvalid', 'spec.git.auth.githubApp.privateKeySecretRef holds no private key, PEM')
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Fault('CredentialsInvalid', 'spec.git.auth.githubApp.privateKeySecretRef holds no RSA key')
  const seconds = Math.floor(clock.now().epochMilliseconds / 1000)
  return await new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(String(appId))
    .setIssuedAt(seconds + jwtFromSeconds)
    .setExpirationTime(seconds + jwtUntilSeconds)
    .sign(key)
}

/** Explains a refusal by its status alone, because the body is untrusted text. */
function refusal({ appId, installationId }: AppKey, host: string, status: number): string {
  if (status === 401)
    return `${host} refused App ${appId}: appId and private key are not of one App, or the clock of this machine is wrong (401)`
  if (status === 403) return `${host} gives App ${appId} no token for installation ${installationId}: it is suspended (403)`
  if (status === 404) return `${host} knows no installation ${installationId} of App ${appId} (404)`
  return `${host} gave no token for App ${appId}: status ${status}`
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'no answer'
}
