/**
 * Defines how Secrets are read: by name and at each use, from a cluster or from a folder. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { printable } from '../../api/values.ts'

/** A Secret as it is now. */
export type Secret = {
  /** Changes whenever the Secret does, and is equal for no other Secret: its uid and resourceVersion in a cluster. */
  version: string
  data: ReadonlyMap<string, Buffer>
}

/** Undefined if the Secret does not exist. */
export type ReadSecret = (namespace: string, name: string, signal: AbortSignal) => Promise<Secret | undefined>

/** The certificates of all public authorities together have 220 KiB. */
const maxTextBytes = 256 * 1024

/**
 * A key of a Secret as text, without the line end that editors add. Throws SecretNotFound naming Secret and key, and CredentialsInvalid for more
 * than 256 KiB.
 */
export function secretText(secret: Secret | undefined, { name, key }: { name: string; key: string }, field: string): string {
  const where = `${field}: Secret "${printable(name)}"`
  if (secret === undefined) throw new Fault('SecretNotFound', `${where} does not exist`)
  const data = secret.data.get(key)
  if ((data?.length ?? 0) > maxTextBytes) throw new Fault('CredentialsInvalid', `${where}: key "${printable(key)}" is larger than 256 KiB`)
  const text = data?.toString('utf8').trim()
  if (text === undefined) throw new Fault('SecretNotFound', `${where} has no key "${printable(key)}"`)
  if (text === '') throw new Fault('SecretNotFound', `${where}: key "${printable(key)}" is empty`)
  return text
}
