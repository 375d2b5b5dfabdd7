/**
 * Checks certificates and keys from Secrets before git gets them, because git's own message about a wrong one names neither. Pure.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Fault } from '../../platform/fault.ts'

/** Throws CredentialsInvalid. */
export function requireCertificate(text: string, field: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (error) {
    throw new Fault('CredentialsInvalid', `${field} does not contain a PEM certificate`, { cause: error })
  }
}

/** Throws CredentialsInvalid unless the key is the certificate's own. */
export function requireKeyPair({ certificate, key }: { certificate: string; key: string }, field: string): void {
  const read = requireCertificate(certificate, `${field}: tls.crt`)
  let matches: boolean
  try {
    matches = read.checkPrivateKey(createPrivateKey(key))
  } catch {
    // The library's message may contain a piece of the key.
    throw new Fault('CredentialsInvalid', `${field}: tls.key does not contain a private key in PEM without a passphrase`)
  }
  if (!matches) throw new Fault('CredentialsInvalid', `${field}: tls.key is not the key of tls.crt`)
}

/** The subject names of the first three certificates in a bundle, for messages; unreadable ones are skipped. */
export function namesOfBundle(bundle: string): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.slice(0, 3).flatMap((block) => {
    try {
      return [new X509Certificate(block).subject.split('\n').at(-1) ?? '']
    } catch {
      return []
    }
  })
}
