/**
 * Installation tokens of GitHub Apps: requested with a JWT signed by the App's private key, and cached while they are valid. Only a call of
 * git that needs a token requests one, so a tenant with many Apps has no more requests than calls of git.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { type Clock, deadline, unlessAborted } from '../../platform/clock.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import { Temporal } from '../../platform/temporal.ts'
import { type ApiAnswer, type ApiRoute, callForJson } from './api-call.ts'

/** The App, its installation, and the key that authenticates it. `privateKey` is an RSA key in PEM. */
export type AppKey = {
  namespace: string
  /** Namespace, Secret and its version. With only the numbers as the key, one tenant would get the token of another tenant. */
  owner: string
  appId: number
  installationId: number
  apiBaseURL: string
  privateKey: string
}

/** The cached tokens of one process. */
export type AppTokens = {
  /** A token valid for at least 2.5 more minutes, unless the API issues shorter ones. Throws CredentialsInvalid, GithubAppRefused, and what `way` throws. */
  token(key: AppKey, way: (signal: AbortSignal) => Promise<ApiRoute>, signal: AbortSignal): Promise<string>
  /** The git host refused the token: drops it, so that the next call requests another. */
  refused(key: AppKey): void
}

type Token = { text: string; expiresAt: Temporal.Instant }

/** Seconds from now. GitHub accepts a JWT of ten minutes at most, and this machine's clock may be ahead of GitHub's. */
const jwtFromSeconds = -60
const jwtUntilSeconds = 540
const renewBeforeMs = 300_000
/** A token that lasts this long is used when the API gives no other one. */
const minLastsMs = 150_000
/** GitHub issues keys of 2,048 bits; RS256 requires them. The time for a signature grows with the cube of the length. */
const keyBits = { min: 2_048, max: 4_096 } as const
const timeoutMs = 30_000
const maxTokens = 1_000
/** GitHub's tokens have some 40 characters, and may have up to 255. */
const maxTokenLength = 4_096

/** Holds at most 1,000 tokens; the namespace with the most loses one first. `stop` ends the requests. */
export function createAppTokens(clock: Clock, stop: AbortSignal): AppTokens {
  const tokens = new FairCache<Promise<Token>>({ max: maxTokens })
  const idOf = ({ owner, appId, installationId, apiBaseURL }: AppKey): string => JSON.stringify([owner, appId, installationId, apiBaseURL])
  const lasts = (token: Token | undefined, ms: number): token is Token =>
    token !== undefined && clock.now().until(token.expiresAt).total('milliseconds') > ms
  const requestOrKeepToken = async (
    present: Token | undefined,
    key: AppKey,
    way: (signal: AbortSignal) => Promise<ApiRoute>,
  ): Promise<Token> => {
    try {
      return await requestToken(key, await way(stop), clock, stop)
    } catch (error) {
      if (lasts(present, minLastsMs)) return present
      throw error
    }
  }

  return {
    async token(key, way, signal) {
      const id = idOf(key)
      const known = tokens.get(id)
      const present = known === undefined ? undefined : await unlessAborted(known, signal).catch(() => undefined)
      signal.throwIfAborted()
      if (lasts(present, renewBeforeMs)) return present.text
      // Of several calls, the first requests the token.
      const running = tokens.get(id)
      const requested = running === undefined || running === known ? requestOrKeepToken(present, key, way) : running
      if (requested !== running) tokens.set(key.namespace, id, requested)
      return (await unlessAborted(requested, signal)).text
    },
    refused: (key) => tokens.delete(idOf(key)),
  }
}

async function requestToken(key: AppKey, way: ApiRoute, clock: Clock, signal: AbortSignal): Promise<Token> {
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
  if (
    answer.status !== 201 ||
    typeof token !== 'string' ||
    token === '' ||
    token.length > maxTokenLength ||
    typeof expiresAt !== 'string'
  ) {
    throw new Fault('GithubAppRefused', refusal(key, host, answer.status))
  }
  try {
    return { text: token, expiresAt: Temporal.Instant.from(expiresAt) }
  } catch (error) {
    throw new Fault('GithubAppRefused', `the API at ${host} returned a token without an expiry time`, { cause: asFault(error) })
  }
}

async function signJwt({ appId, privateKey }: AppKey, clock: Clock): Promise<string> {
  let key: KeyObject
  try {
    key = createPrivateKey(privateKey)
  } catch {
    // The library's message may contain a piece of the key.
    throw new Fault('CredentialsInvalid', 'spec.git.auth.githubApp.privateKeySecretRef does not contain a private key in PEM')
  }
  if (key.asymmetricKeyType !== 'rsa')
    throw new Fault('CredentialsInvalid', 'spec.git.auth.githubApp.privateKeySecretRef does not contain an RSA key')
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {}
  if (bits < keyBits.min || bits > keyBits.max) {
    const accepted = `keys of ${keyBits.min} to ${keyBits.max} bits are accepted`
    throw new Fault('CredentialsInvalid', `spec.git.auth.githubApp.privateKeySecretRef contains an RSA key of ${bits} bits; ${accepted}`)
  }
  const seconds = Math.floor(clock.now().epochMilliseconds / 1000)
  return await new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(String(appId))
    .setIssuedAt(seconds + jwtFromSeconds)
    .setExpirationTime(seconds + jwtUntilSeconds)
    .sign(key)
}

/** Explains a refusal only by its status, because the body is untrusted text. */
function refusal({ appId, installationId }: AppKey, host: string, status: number): string {
  if (status === 401)
    return `${host} refused App ${appId}: appId and private key do not belong to the same App, or the clock of this machine is wrong (401)`
  if (status === 403)
    return `${host} issued no token for installation ${installationId} of App ${appId}: the installation is suspended (403)`
  if (status === 404) return `${host} has no installation ${installationId} of App ${appId} (404)`
  return `${host} issued no token for App ${appId}: status ${status}`
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'no answer'
}
