/**
 * Reads the mounted Secret of the OpenID Connect login: client credentials and session keys. A rotation needs no restart.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { ControllerSettings } from '../../settings/controller.ts'
import { keyFrom } from '../../statuspage/login/sealed.ts'

export type OidcSettings = NonNullable<NonNullable<ControllerSettings['statusPage']>['oidc']>

/** At most five seconds old. */
export type LoginSecret = {
  clientSecret: string
  /** PEM CA of the provider's certificate; undefined: the system CAs. */
  caBundle: string | undefined
  /** Secrets from which keys are derived; the first one is used for new sessions. Empty if there is none. */
  sessionSecrets: readonly string[]
}

/** Shorter ones are too weak, and are ignored. */
const minLength = 16
const keptMs = 5_000

/** Returns a reader of the folder, which reads at most every five seconds. Never throws: what is missing is empty. */
export function createLoginSecret(
  folder: string,
  { clock, log }: { clock: Pick<Clock, 'monotonicMs'>; log: Log },
): () => Promise<LoginSecret> {
  let known: { secret: Promise<LoginSecret>; untilMs: number } | undefined
  const read = async (name: string): Promise<string> => await readFile(path.join(folder, name), 'utf8').catch(() => '')
  const readAll = async (): Promise<LoginSecret> => {
    const clientSecret = (await read('client-secret')).trim()
    const caBundle = (await read('ca.crt')).trim()
    const lines = (await read('session-key')).split('\n').map((line) => line.trim())
    const written = lines.filter((line) => line.length >= minLength)
    // Every replica has the client secret, so session keys can be derived from it when none are configured.
    const sessionSecrets = lines.some((line) => line !== '') ? written : [clientSecret].filter((one) => one.length >= minLength)
    if (sessionSecrets.length === 0)
      log.warn(
        { component: 'status-page', message: `${folder} has no client-secret or session-key of ${minLength} characters` },
        'logins to the status page fail',
      )
    return { clientSecret, caBundle: caBundle === '' ? undefined : caBundle, sessionSecrets }
  }
  return async () => {
    if (known === undefined || clock.monotonicMs() >= known.untilMs) known = { secret: readAll(), untilMs: clock.monotonicMs() + keptMs }
    return await known.secret
  }
}

/** Derives the keys for one purpose, bound to this client of this provider: a changed issuer or prefix invalidates existing sessions. */
export function keysOf(
  { sessionSecrets }: LoginSecret,
  { issuer, clientID, usernamePrefix, groupsPrefix }: OidcSettings,
  purpose: 'form' | 'session' | 'login',
): Uint8Array[] {
  const place = JSON.stringify([issuer, clientID, usernamePrefix, groupsPrefix])
  return sessionSecrets.map((secret) => keyFrom(secret, purpose, place))
}
