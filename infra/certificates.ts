/**
 * Who makes the certificate of the secure ports, for which names, and what cert-manager is asked for. Pure.
 */
import { and, isSet, not, text } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'

const apiVersion = 'cert-manager.io/v1'

/** Who makes the certificate of every secure port; a Secret that the values name wins. */
type CertificateBy = Record<'existing' | 'certManager' | 'selfManaged', Value<boolean>>

export function certificateBy({ webhook: { existingSecret }, certManager }: Live<Values>): CertificateBy {
  const existing = isSet(existingSecret)
  return { existing, certManager: and(not(existing), certManager.enabled), selfManaged: and(not(existing), not(certManager.enabled)) }
}

/** Names by which Services are reached, from inside and outside of the namespace. */
export function dnsNames(services: readonly Value<string>[], namespace: Value<string>): Value<string>[] {
  return services.flatMap((service) => [text`${service}.${namespace}.svc`, text`${service}.${namespace}.svc.cluster.local`])
}

/**
 * Certificates by cert-manager: an authority of our own between the self-signed root and the leaf, so that a renewed leaf changes nothing
 * that agents and the API server trust.
 */
export function certificates(names: Names): LiveManifest[] {
  const { fullname, namespace, certificateSecret, webhookService, deliveryService, metricsService } = names
  const authority = text`${fullname}-ca`
  const metadata = (name: Value<string>) => namespaced(names, name)
  const issuer = (name: Value<string>, spec: object): LiveManifest => ({ apiVersion, kind: 'Issuer', metadata: metadata(name), spec })
  const certificate = (name: Value<string>, spec: object): LiveManifest => ({
    apiVersion,
    kind: 'Certificate',
    metadata: metadata(name),
    spec,
  })
  return [
    issuer(text`${fullname}-selfsigned`, { selfSigned: {} }),
    certificate(authority, {
      isCA: true,
      commonName: authority,
      secretName: authority,
      duration: '87600h',
      // Those who trust the certificate before a renewal trust the leaves after it.
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
      issuerRef: { name: text`${fullname}-selfsigned`, kind: 'Issuer', group: 'cert-manager.io' },
    }),
    issuer(authority, { ca: { secretName: authority } }),
    certificate(certificateSecret, {
      secretName: certificateSecret,
      dnsNames: dnsNames([webhookService, deliveryService, metricsService], namespace),
      duration: '2160h',
      renewBefore: '720h',
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      usages: ['server auth'],
      issuerRef: { name: authority, kind: 'Issuer', group: 'cert-manager.io' },
    }),
  ]
}
