/**
 * The certificate that is served now, and its listeners.
 */
import { readCertificate } from './parse.ts'

/** PEM texts. */
export type ServedCertificate = {
  cert: string
  key: string
  /** Every authority to trust now. */
  caBundle: string
  from: Temporal.Instant
  until: Temporal.Instant
}

/** The current certificate, for ports that serve it. */
export type ServingCertificates = {
  current(): ServedCertificate
  /** Calls back after each change; returns how to stop that. */
  onChange(listener: (served: ServedCertificate) => void): () => void
}

/** A certificate with the loop that keeps it current. */
export type RenewedCertificates = ServingCertificates & {
  /** Renews or re-reads the certificate when that is due, until the signal. Failures are logged and retried. */
  run(signal: AbortSignal): Promise<void>
}

/** As above, for the webhook that the API server calls. */
export type CertificateKeeper = RenewedCertificates & {
  /** Whether the API server knows which authorities to trust; true after a while even if that cannot be written. */
  isTrusted(): boolean
}

/** For whoever renews: `show` replaces the certificate. */
export type Shown = ServingCertificates & {
  /** Serves this certificate from now on. Returns whether it differs from the one before. */
  show(served: Pick<ServedCertificate, 'cert' | 'key' | 'caBundle'>): boolean
}

/** Throws for a text that holds no certificate. */
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
  if (read === undefined) throw new Error('the text holds no certificate')
  return { cert, key, caBundle, from: read.from, until: read.until }
}
