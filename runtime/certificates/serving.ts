/**
 * The certificate that is served now, and who wants to hear of the next one. Whoever keeps it renewed runs until its signal.
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

export type ServingCertificates = {
  current(): ServedCertificate
  /** Calls back after each change; returns how to stop that. */
  onChange(listener: (served: ServedCertificate) => void): () => void
}

export type RenewedCertificates = ServingCertificates & {
  /** Renews or re-reads the certificate when it is due, and outlives failures of doing so. */
  run(signal: AbortSignal): Promise<void>
}

export type CertificateKeeper = RenewedCertificates & {
  /** Whether the API server has been told what to trust; one that cannot be told is not waited for endlessly. */
  isTrusted(): boolean
}

export type Shown = ServingCertificates & {
  /** Whether this is another certificate than before. */
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
