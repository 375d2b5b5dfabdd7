/**
 * The certificate that is served now, and who wants to hear of the next one. Whoever keeps it renewed runs until its signal.
 */
import { readCertificate } from './read.ts'

/** PEM texts. */
export type ServedCertificate = {
  certificate: string
  key: string
  /** Every authority to trust now. */
  caBundle: string
  from: Temporal.Instant
  until: Temporal.Instant
}

export type ServingCertificates = {
  current(): ServedCertificate
  /** Calls back after each change; returns how to stop that. */
  onChange(listener: (served: ServedCertificate) => void): () => void
}

export type CertificateKeeper = ServingCertificates & {
  /** Renews or re-reads the certificate when it is due, and outlives failures of doing so. */
  run(signal: AbortSignal): Promise<void>
}

export type Shown = ServingCertificates & {
  /** Whether this is another certificate than before. */
  show(served: Pick<ServedCertificate, 'certificate' | 'key' | 'caBundle'>): boolean
}

/** Throws for a text that holds no certificate. */
export function createServing(first: Pick<ServedCertificate, 'certificate' | 'key' | 'caBundle'>): Shown {
  const listeners = new Set<(served: ServedCertificate) => void>()
  let served = dated(first)
  return {
    current: () => served,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    show(next) {
      const { certificate, key, caBundle } = served
      if (next.certificate === certificate && next.key === key && next.caBundle === caBundle) return false
      served = dated(next)
      for (const listener of listeners) listener(served)
      return true
    },
  }
}

function dated({ certificate, key, caBundle }: Pick<ServedCertificate, 'certificate' | 'key' | 'caBundle'>): ServedCertificate {
  const read = readCertificate(certificate)
  if (read === undefined) throw new Error('the text holds no certificate')
  return { certificate, key, caBundle, from: read.from, until: read.until }
}
