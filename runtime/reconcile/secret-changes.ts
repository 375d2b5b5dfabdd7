/**
 * Notices when a Secret that a GatewaySync names for its source appears, changes or disappears. Secrets are read by name from time to time,
 * never watched, because a watch would need the right to list all Secrets.
 */
import { type Clock, pause } from '../clock.ts'
import { limitConcurrency } from '../limit-concurrency.ts'
import type { ReadSecret } from '../source/remote/secrets.ts'
import type { SyncKey } from './records.ts'

/** Versions of the Secrets in use. */
export type SecretChanges = {
  /** Reads a Secret for a question to the git host, and remembers its version, or that it could not be read. */
  readSecret: ReadSecret
  /** How many changes have been noticed for a GatewaySync. */
  count(key: SyncKey): number
  /** Looks from time to time, until the signal. */
  run(signal: AbortSignal): Promise<void>
}

/** A GatewaySync, and the names of the Secrets of its namespace that its source needs. */
export type SecretUser = { key: SyncKey; namespace: string; secrets: readonly string[] }

type Deps = {
  readSecret: ReadSecret
  users(): Iterable<SecretUser>
  changed(key: SyncKey): void
  clock: Clock
}

/** Changes take effect within 30 s, which includes this wait, reading all Secrets, and the lookup. */
const everyMs = 15_000
/** So many Secrets are read at once, so that reading a thousand does not take all of that time where each answer takes long. */
const readAtOnce = 4
const absent = 'absent'
const unreadable = 'unreadable'

/** `changed` is called for each GatewaySync that needs a Secret which has changed. */
export function createSecretChanges({ readSecret, users, changed, clock }: Deps): SecretChanges {
  const versions = new Map<string, string>()
  const counts = new Map<SyncKey, number>()

  const noticed = (namespace: string, name: string): void => {
    for (const user of users()) {
      if (user.namespace !== namespace || !user.secrets.includes(name)) continue
      counts.set(user.key, (counts.get(user.key) ?? 0) + 1)
      changed(user.key)
    }
  }
  const read: ReadSecret = async (namespace, name, signal) => {
    const secret = await readSecret(namespace, name, signal)
    const id = `${namespace}/${name}`
    const [before, now] = [versions.get(id), secret?.version ?? absent]
    versions.set(id, now)
    if (before !== undefined && before !== now) noticed(namespace, name)
    return secret
  }
  const readToUse: ReadSecret = async (namespace, name, signal) => {
    try {
      return await read(namespace, name, signal)
    } catch (error) {
      // Who needed it has failed, and hears when it can be read, also where it is the same as ever.
      if (!signal.aborted) versions.set(`${namespace}/${name}`, unreadable)
      throw error
    }
  }
  const lookOnce = async (signal: AbortSignal): Promise<void> => {
    const named = new Map(
      [...users()].flatMap(({ namespace, secrets }) => secrets.map((name) => [`${namespace}/${name}`, { namespace, name }])),
    )
    for (const id of versions.keys()) if (!named.has(id)) versions.delete(id)
    const limited = limitConcurrency(readAtOnce)
    const look = async ({ namespace, name }: { namespace: string; name: string }): Promise<void> => {
      if (signal.aborted) return
      // A Secret that cannot be read now counts as unchanged; whoever needs it meanwhile reports the failure.
      await read(namespace, name, signal).catch(() => undefined)
    }
    await Promise.all([...named.values()].map((secret) => limited(() => look(secret))))
  }
  return {
    readSecret: readToUse,
    count: (key) => counts.get(key) ?? 0,
    async run(signal) {
      while (!signal.aborted) {
        await pause(clock, everyMs, signal)
        await lookOnce(signal)
      }
    },
  }
}
