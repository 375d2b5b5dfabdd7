/**
 * The Secret of a receiver, mounted as a folder and read at each use, so that a new address or key needs no restart.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Fault } from '../../fault.ts'

/** Its keys `address`, `hmac-key` and `ca.crt`, checked. */
export type ReceiverSecret = {
  address: URL
  /** Signs what is sent. */
  hmacKey: string | undefined
  /** Authorities that may vouch for the receiver, PEM, in place of the system's. */
  caBundle: string | undefined
}

/** Throws SecretNotFound, and CredentialsInvalid for an address that is no https URL, which no message shows: it may hold a secret. */
export async function readReceiverSecret(name: string, folder: string): Promise<ReceiverSecret> {
  const [text, hmacKey, caBundle] = await Promise.all(['address', 'hmac-key', 'ca.crt'].map(async (key) => await read(folder, key)))
  if (text === undefined) throw new Fault('SecretNotFound', `notifications: the Secret of "${name}" has no key "address"`)
  const address = URL.parse(text)
  if (address === null || address.protocol !== 'https:' || address.username !== '' || address.password !== '')
    throw new Fault('CredentialsInvalid', `notifications: the address of "${name}" is no https URL without user and password`)
  return { address, hmacKey, caBundle }
}

/** Undefined for what is missing or empty. */
async function read(folder: string, key: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path.join(folder, key), 'utf8')).trim()
    return text === '' ? undefined : text
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault('SecretNotFound', `notifications: "${path.join(folder, key)}" cannot be read`, { cause: error })
  }
}
