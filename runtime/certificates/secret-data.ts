/**
 * The self-managed certificates as the data of a Secret: tls.crt, tls.key and ca.crt as in every TLS Secret, and what renewal needs besides.
 * Pure.
 */
import type { KeyPair } from './issue.ts'
import type { StoredCertificates } from './rotation.ts'

/** Values are base64. */
export type SecretData = Readonly<Record<string, string>>

const keys = {
  leaf: { certificate: 'tls.crt', key: 'tls.key' },
  authority: { certificate: 'authority.crt', key: 'authority.key' },
  next: { certificate: 'next-authority.crt', key: 'next-authority.key' },
} as const
const previousKey = 'previous-authority.crt'
/** For people and tools that expect it; we do not read it. */
const bundleKey = 'ca.crt'

/** Undefined when the Secret does not hold enough for a renewal to continue from. */
export function fromSecretData(data: SecretData | undefined): StoredCertificates | undefined {
  const authority = readPair(data, keys.authority)
  const leaf = readPair(data, keys.leaf)
  if (authority === undefined || leaf === undefined) return undefined
  return { authority, next: readPair(data, keys.next), previous: readText(data, previousKey), leaf }
}

/** A merge patch of `data`: what is no longer needed is null. */
export function toSecretData({ authority, next, previous, leaf }: StoredCertificates, caBundle: string): Record<string, string | null> {
  return {
    [bundleKey]: encode(caBundle),
    ...writePair(leaf, keys.leaf),
    ...writePair(authority, keys.authority),
    ...writePair(next, keys.next),
    [previousKey]: previous === undefined ? null : encode(previous),
  }
}

type Names = { certificate: string; key: string }

function readPair(data: SecretData | undefined, names: Names): KeyPair | undefined {
  const [certificate, key] = [readText(data, names.certificate), readText(data, names.key)]
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

function readText(data: SecretData | undefined, name: string): string | undefined {
  const value = data?.[name]
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString('utf8')
}

function writePair(pair: KeyPair | undefined, names: Names): Record<string, string | null> {
  return {
    [names.certificate]: pair === undefined ? null : encode(pair.certificate),
    [names.key]: pair === undefined ? null : encode(pair.key),
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
