/**
 * Detects when a Secret that a GatewaySync's source names appears, changes or disappears. Secrets are polled by name, never watched,
 * because a watch would need permission to list all Secrets.
 */
import { type Clock, pause } from '../../platform/clock.ts'
import type { ReadSecret } from '../../git/remote/secrets.ts'
import { Queue } from '../../platform/async/queue.ts'
import type { SyncKey } from '../store/records.ts'

/** Versions of the Secrets in use. */
export type SecretChanges = {
  /** Reads a Secret for a query to the git host, and records its version or that it could not be read. */
  readSecret: ReadSecret
  /** Returns how many changes have been detected for a GatewaySync. */
  count(key: SyncKey): number
  /** Polls until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** A GatewaySync, and the names of the Secrets of its namespace that its source needs. */
export type SecretUser = { key: SyncKey; namespace: string; secrets: readonly string[] }

type Deps = {
  readSecret: ReadSecret
  /** Returns the users of Secrets of one namespace, or of all. */
  users(namespace?: string): Iterable<SecretUser>
  changed(key: SyncKey): void
  clock: Clock
}

/** Changes take effect within 30 s, which includes this interval, reading all Secrets, and the resolution. */
const everyMs = 15_000
/** Concurrent reads, so that a thousand Secrets fit into that time even with slow answers. */
const readAtOnce = 4
const absent = 'absent'
const unreadable = 'unreadable'

/** `changed` is called for each GatewaySync whose Secret has changed. */
export function createSecretChanges({ readSecret, users, changed, clock }: Deps): SecretChanges {
  const versions = new Map<string, string>()
  const counts = new Map<SyncKey, number>()

  const noticed = (namespace: string, name: string): void => {
    for (const user of users(namespace)) {
      if (!user.secrets.includes(name)) continue
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
      // The resolution failed, so it is retried once the Secret can be read, even with an unchanged version.
      if (!signal.aborted) versions.set(`${namespace}/${name}`, unreadable)
      throw error
    }
  }
  // Namespaces take turns, and a poll does not wait for the one before, so that one with many Secrets does not delay others.
  const reads = new Queue({
    clock,
    workers: readAtOnce,
    async reconcile(id, signal) {
      const [namespace = '', name = ''] = id.split('/')
      // A Secret that cannot be read now counts as unchanged; the resolution that needs it reports the failure.
      await read(namespace, name, signal).catch(() => undefined)
      return { wakeAfterMs: undefined }
    },
    failed: () => undefined,
  })
  const poll = (): void => {
    const present = [...users()]
    const keys = new Set(present.map(({ key }) => key))
    for (const key of counts.keys()) if (!keys.has(key)) counts.delete(key)
    const named = new Set(present.flatMap(({ namespace, secrets }) => secrets.map((name) => `${namespace}/${name}`)))
    for (const id of versions.keys()) if (!named.has(id)) versions.delete(id)
    for (const id of named) reads.add(id)
  }
  return {
    readSecret: readToUse,
    count: (key) => counts.get(key) ?? 0,
    async run(signal) {
      const reading = reads.run(signal)
      while (!signal.aborted) {
        await pause(clock, everyMs, signal)
        if (!signal.aborted) poll()
      }
      await reading
    },
  }
}
