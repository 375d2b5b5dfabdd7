/**
 * The served certificate: parses it, with node:crypto, whose parser the TLS server uses too, and notifies listeners when it changes.
 */
import { Temporal } from '../platform/temporal.ts'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyPair, Validity } from './issue.ts'

/** PEM texts. */
export type ServedCertificate = {
  cert: string
  key: string
  /** Every CA to trust now. */
  caBundle: string
  from: Temporal.Instant
  until: Temporal.Instant
}

/** The current certificate, for ports that serve it. */
export type ServingCertificates = {
  current(): ServedCertificate
  /** Calls `listener` after each change; returns a function that unsubscribes. */
  onChange(listener: (served: ServedCertificate) => void): () => void
}

/** A certificate with the loop that keeps it current. */
export type RenewedCertificates = ServingCertificates & {
  /** Renews or re-reads the certificate when due, until `signal` aborts. Failures are logged and retried. */
  run(signal: AbortSignal): Promise<void>
}

/** As above, for the webhook that the API server calls. */
export type CertificateKeeper = RenewedCertificates & {
  /** Whether the API server trusts the right CAs; true after a while even if they cannot be written. */
  isTrusted(): boolean
}

/** For the renewing part: `show` replaces the certificate. */
export type Shown = ServingCertificates & {
  /** Serves this certificate from then on. Returns whether it differs from the previous one. */
  show(served: Pick<ServedCertificate, 'cert' | 'key' | 'caBundle'>): boolean
}

/** Throws for a text without a certificate. */
export function createServing(first: Pick<ServedCertificate, 'cert' | 'key' | 'caBundle'>): Shown {
  const listeners = new Set<(served: ServedCertificate) => void>()
  let served = dated(first)
  return {
    current: () => served,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    show(next) {
      const { cert, key, caBundle } = served
      if (next.cert === cert && next.key === key && next.caBundle === caBundle) return false
      served = dated(next)
      for (const listener of listeners) listener(served)
      return true
    },
  }
}

function dated({ cert, key, caBundle }: Pick<ServedCertificate, 'cert' | 'key' | 'caBundle'>): ServedCertificate {
  const read = readCertificate(cert)
  if (read === undefined) throw new Error('the text does not contain a certificate')
  return { cert, key, caBundle, from: read.from, until: read.until }
}

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
