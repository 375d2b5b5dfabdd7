/**
 * Parses a certificate for renewal and serving, with node:crypto, whose parser the TLS server uses too. Pure.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Temporal } from '../platform/temporal.ts'
import type { KeyPair, Validity } from './issue.ts'

/** `names`: the DNS names and IP addresses that it is for. */
export type ReadCertificate = Validity & { names: string[]; certificate: X509Certificate }

/** Reads the first certificate of a PEM text, which in a chain is the leaf; undefined when there is none. */
export function readCertificate(text: string): ReadCertificate | undefined {
  try {
    const certificate = new X509Certificate(text)
    return {
      certificate,
      from: Temporal.Instant.fromEpochMilliseconds(certificate.validFromDate.getTime()),
      until: Temporal.Instant.fromEpochMilliseconds(certificate.validToDate.getTime()),
      names: (certificate.subjectAltName ?? '')
        .split(', ')
        .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? [])
        .map((name) => name.toLowerCase()),
    }
  } catch {
    return undefined
  }
}

/** Whether the certificate holds the public half of the key; false also for invalid texts. */
export function keyMatchesCertificate({ certificate, key }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

/** Whether the CA signed the certificate. */
export function isSignedBy(leaf: ReadCertificate, authority: ReadCertificate): boolean {
  return leaf.certificate.checkIssued(authority.certificate) && leaf.certificate.verify(authority.certificate.publicKey)
}
