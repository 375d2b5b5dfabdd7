/**
 * The mounted Secret of the login by OpenID Connect: what proves us to the provider, and what seals sessions. A rotation needs no restart.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { ControllerSettings } from '../../settings.ts'
import { keyFrom } from '../../statuspage/key.ts'

export type OidcSettings = NonNullable<NonNullable<ControllerSettings['statusPage']>['oidc']>

/** As it was within the last five seconds. */
export type LoginSecret = {
  clientSecret: string
  /** PEM: the authority of the provider's certificate; undefined: those of the system. */
  caBundle: string | undefined
  /** From which keys are made, the one that is used first. Empty while there is none. */
  sessionSecrets: readonly string[]
}

/** Shorter ones are guessed too soon, and are taken for none. */
const leastLength = 16
const keptMs = 5_000

/** Returns what reads the folder, at most every five seconds. Never throws: what is missing is empty. */
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
    const written = lines.filter((line) => line.length >= leastLength)
    // Every replica has the client's secret, so that a key of sessions need not be made by anybody.
    const sessionSecrets = lines.some((line) => line !== '') ? written : [clientSecret].filter((one) => one.length >= leastLength)
    if (sessionSecrets.length === 0)
      log.warn(
        { component: 'status-page', message: `${folder} has no client-secret or session-key of ${leastLength} characters` },
        'nobody can log in to the status page',
      )
    return { clientSecret, caBundle: caBundle === '' ? undefined : caBundle, sessionSecrets }
  }
  return async () => {
    if (known === undefined || clock.monotonicMs() >= known.untilMs) known = { secret: readAll(), untilMs: clock.monotonicMs() + keptMs }
    return await known.secret
  }
}

/** The keys for one purpose, of this client of this provider alone: a changed issuer or prefix ends the sessions that were opened with another. */
export function keysOf(
  { sessionSecrets }: LoginSecret,
  { issuer, clientId, usernamePrefix, groupsPrefix }: OidcSettings,
  purpose: 'form' | 'session' | 'login',
): Uint8Array[] {
  const place = JSON.stringify([issuer, clientId, usernamePrefix, groupsPrefix])
  return sessionSecrets.map((secret) => keyFrom(secret, purpose, place))
}
