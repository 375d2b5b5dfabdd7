/**
 * Holds the served certificate and notifies listeners.
 */
import type { Temporal } from '../platform/temporal.ts'
import { readCertificate } from './parse.ts'

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
  /** Serves this certificate from now on. Returns whether it differs from the previous one. */
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
  if (read === undefined) throw new Error('the text holds no certificate')
  return { cert, key, caBundle, from: read.from, until: read.until }
}
