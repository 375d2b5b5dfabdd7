/**
 * Certificates by cert-manager: an authority of our own between the self-signed root and the leaf, so that a renewed leaf changes nothing
 * that agents and the API server trust. Pure.
 */
import { dnsNames } from './controller.ts'
import { text } from './helm/combinators.ts'
import type { Value } from './helm/expression.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './policies.ts'

const apiVersion = 'cert-manager.io/v1'

export function certificates(names: Names): LiveManifest[] {
  const { fullname, namespace, labels, certificateSecret, webhookService, deliveryService, metricsService } = names
  const authority = text`${fullname}-ca`
  const metadata = (name: Value<string>) => ({ name, namespace, labels })
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
