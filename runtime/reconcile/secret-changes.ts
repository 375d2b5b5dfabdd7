/**
 * Notices that a Secret has appeared, changed or gone which a GatewaySync names for its source. Secrets are read by name from time to
 * time and never watched: that would take the right to list every Secret.
 */
import { type Clock, pause } from '../clock.ts'
import type { ReadSecret } from '../source/remote/secrets.ts'
import type { SyncKey } from './store.ts'

export type SecretChanges = {
  /** Reads a Secret and remembers its version. */
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

/** A change is acted on within 30 s: the wait, the reading of them all, and the question to the git host. */
const everyMs = 15_000
const absent = 'absent'

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
  const lookOnce = async (signal: AbortSignal): Promise<void> => {
    const named = new Map(
      [...users()].flatMap(({ namespace, secrets }) => secrets.map((name) => [`${namespace}/${name}`, { namespace, name }])),
    )
    for (const id of versions.keys()) if (!named.has(id)) versions.delete(id)
    for (const { namespace, name } of named.values()) {
      if (signal.aborted) return
      // What cannot be read now has not changed; whoever needs it says so.
      await read(namespace, name, signal).catch(() => undefined)
    }
  }
  return {
    readSecret: read,
    count: (key) => counts.get(key) ?? 0,
    async run(signal) {
      while (!signal.aborted) {
        await pause(clock, everyMs, signal)
        await lookOnce(signal)
      }
    },
  }
}
