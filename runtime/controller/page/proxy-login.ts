/**
 * Who looks at the status page, by the word of a proxy with a login. Anybody can write its headers, so that they count only beside a secret
 * that the proxy and we know.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../../clock.ts'
import { asFault } from '../../fault.ts'
import type { Log } from '../../log.ts'
import type { ControllerSettings } from '../../settings.ts'
import { keyFrom } from '../../statuspage/key.ts'
import { personNamed } from '../../statuspage/named-person.ts'
import type { Doing, People, Person } from '../../statuspage/people.ts'

export type ProxySettings = NonNullable<NonNullable<ControllerSettings['statusPage']>['proxy']>

/** The header in which the proxy proves itself. */
export const proxySecretHeader = 'x-cluster-sync-proxy-secret'

/** A shorter one is guessed too soon, and is taken for none. */
const leastSecretLength = 16
/** How long the mounted secret is remembered; a rotation needs no restart. */
const keptMs = 5_000

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The keys of forms are made from the secret, which every replica has. */
export function createProxyLogin(
  settings: ProxySettings,
  { clock, log }: { clock: Clock; log: Log },
): Pick<People, 'identify'> & Pick<Doing, 'formKeys'> {
  const { secretFile, userHeader, groupsHeader, userPrefix, groupsPrefix } = settings
  let known: { secrets: Promise<string[]>; untilMs: number } | undefined
  const secrets = (): Promise<string[]> => {
    if (known === undefined || clock.monotonicMs() >= known.untilMs) {
      const read = readSecrets(secretFile).catch((error: unknown) => {
        log.warn(
          { component: 'status-page', message: asFault(error).message },
          'the secret of the proxy cannot be read: nobody is believed',
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
      return isProxy ? personOf(header(userHeader), header(groupsHeader), { userPrefix, groupsPrefix }) : undefined
    },
    formKeys: async () => (await secrets()).map((secret) => keyFrom(secret, 'form')),
  }
}

/** Several while one is rotated, one in a line. */
async function readSecrets(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim())
  return lines.filter((line) => line.length >= leastSecretLength)
}

/** Takes as long for every pair of texts. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

type Prefixes = Pick<ProxySettings, 'userPrefix' | 'groupsPrefix'>

/**
 * Undefined where no one person is named: a header that came twice may be once from the caller, and so may a name with a comma, which joins
 * two headers.
 */
function personOf(users: readonly string[], groups: readonly string[], { userPrefix, groupsPrefix }: Prefixes): Person | undefined {
  if (users.length > 1 || groups.length > 1) return undefined
  const name = decoded(users[0] ?? '').trim()
  if (name.includes(',')) return undefined
  return personNamed(
    name,
    (groups[0] ?? '').split(',').map((group) => decoded(group).trim()),
    { userPrefix, groupsPrefix },
  )
}

/** Node reads a header's bytes as Latin-1, and proxies write UTF-8; bytes that are none stay as Node has read them. */
function decoded(text: string): string {
  try {
    return utf8.decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}
