/**
 * Authenticates status-page users by the headers of a trusted proxy. Anyone can send these headers, so they count only with a secret shared
 * with the proxy.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import { asFault } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import type { ControllerSettings } from '../../settings/controller.ts'
import { personNamed } from '../../statuspage/login/claims.ts'
import type { UserActions, PageAuth, Person } from '../../statuspage/views/page-auth.ts'
import { keyFrom } from '../../statuspage/login/sealed.ts'

export type ProxySettings = NonNullable<NonNullable<ControllerSettings['statusPage']>['proxy']>

/** The header with the proxy's secret. */
export const proxySecretHeader = 'x-cluster-sync-proxy-secret'

/** A shorter one is too weak, and is ignored. */
const minSecretLength = 16
/** How long the mounted secret is cached; a rotation needs no restart. */
const keptMs = 5_000

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Form keys are derived from the secret, which every replica has. */
export function createProxyLogin(
  settings: ProxySettings,
  { clock, log }: { clock: Clock; log: Log },
): Pick<PageAuth, 'identify'> & Pick<UserActions, 'formKeys'> {
  const { secretFile, userHeader, groupsHeader, usernamePrefix, groupsPrefix } = settings
  let known: { secrets: Promise<string[]>; untilMs: number } | undefined
  const secrets = (): Promise<string[]> => {
    if (known === undefined || clock.monotonicMs() >= known.untilMs) {
      const read = readSecrets(secretFile).catch((error: unknown) => {
        log.warn(
          { component: 'status-page', message: asFault(error).message },
          'the secret of the proxy cannot be read: all its logins are refused',
        )
        return []
      })
      known = { secrets: read, untilMs: clock.monotonicMs() + keptMs }
    }
    return known.secrets
  }
  return {
    async identify(header) {
      const shown = header(proxySecretHeader).join(',')
      const isProxy = (await secrets()).filter((secret) => isEqual(secret, shown)).length > 0
      return isProxy ? personOf(header(userHeader), header(groupsHeader), { usernamePrefix, groupsPrefix }) : undefined
    },
    formKeys: async () => (await secrets()).map((secret) => keyFrom(secret, 'form')),
  }
}

/** One per line; several during a rotation. */
async function readSecrets(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim())
  return lines.filter((line) => line.length >= minSecretLength)
}

/** Compares in constant time. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

type Prefixes = Pick<ProxySettings, 'usernamePrefix' | 'groupsPrefix'>

/**
 * Undefined unless exactly one person is named: a repeated header may come from the caller, and so may a name with a comma, which joins two
 * headers.
 */
function personOf(users: readonly string[], groups: readonly string[], { usernamePrefix, groupsPrefix }: Prefixes): Person | undefined {
  if (users.length > 1 || groups.length > 1) return undefined
  const name = decoded(users[0] ?? '').trim()
  if (name.includes(',')) return undefined
  return personNamed(
    name,
    (groups[0] ?? '').split(',').map((group) => decoded(group).trim()),
    { usernamePrefix, groupsPrefix },
  )
}

/** Node reads header bytes as Latin-1, and proxies write UTF-8; invalid UTF-8 stays as Node has read it. */
function decoded(text: string): string {
  try {
    return utf8.decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}
