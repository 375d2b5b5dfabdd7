/**
 * The certificate of the TLS ports, issued by cert-manager.
 */
import { Construct } from 'constructs'
import {
  Certificate,
  CertificateSpecPrivateKeyAlgorithm,
  CertificateSpecPrivateKeyRotationPolicy,
  CertificateSpecUsages,
  Issuer,
} from '../../imports/cert-manager.io.js'
import type { SharedProps } from './shared-props.ts'
import { metadata, type Names } from '../names.ts'
import type { Values } from '../values.ts'

/**
 * The certificate, issued by a self-signed CA of this installation, so that its renewal does not change what agents and the API server
 * trust. Creates nothing if the certificate has another source.
 */
export class Certificates extends Construct {
  readonly selfSignedIssuer: Issuer | undefined
  readonly authority: Certificate | undefined
  readonly issuer: Issuer | undefined
  /** Used by every TLS port of the controller. */
  readonly certificate: Certificate | undefined

  constructor(scope: Construct, id: string, { names, values }: SharedProps) {
    super(scope, id)
    if (certificateSource(values) !== 'cert-manager') return
    const selfSigned = `${names.fullname}-selfsigned`
    const authority = `${names.fullname}-ca`
    const issuedBy = (name: string) => ({ name, kind: 'Issuer', group: 'cert-manager.io' })
    const privateKey = { algorithm: CertificateSpecPrivateKeyAlgorithm.ECDSA, size: 256 }

    this.selfSignedIssuer = new Issuer(this, 'SelfSignedIssuer', { metadata: metadata(names, selfSigned), spec: { selfSigned: {} } })
    this.authority = new Certificate(this, 'Authority', {
      metadata: metadata(names, authority),
      spec: {
        isCa: true,
        commonName: authority,
        secretName: authority,
        duration: '87600h',
        // With an unchanged key, clients that trust the previous CA certificate also trust certificates issued after the renewal of the CA.
        privateKey: { ...privateKey, rotationPolicy: CertificateSpecPrivateKeyRotationPolicy.NEVER },
        issuerRef: issuedBy(selfSigned),
      },
    })
    this.issuer = new Issuer(this, 'Issuer', { metadata: metadata(names, authority), spec: { ca: { secretName: authority } } })
    this.certificate = new Certificate(this, 'Certificate', {
      metadata: metadata(names, names.certificateSecret),
      spec: {
        secretName: names.certificateSecret,
        dnsNames: certificateNames(names, values),
        duration: '2160h',
        renewBefore: '720h',
        privateKey: { ...privateKey, rotationPolicy: CertificateSpecPrivateKeyRotationPolicy.ALWAYS },
        usages: [CertificateSpecUsages.SERVER_AUTH],
        issuerRef: issuedBy(authority),
      },
    })
  }
}

/** Where the certificate comes from. A Secret in the values takes precedence. */
export function certificateSource({ webhook, certManager }: Values): 'existing-secret' | 'cert-manager' | 'controller' {
  if (webhook.existingSecret !== '') return 'existing-secret'
  return certManager.enabled ? 'cert-manager' : 'controller'
}

/** The DNS names of the certificate. The status page is included only if it is enabled, because a new name means a new certificate. */
export function certificateNames(names: Names, { statusPage }: Values): string[] {
  const { webhookService, deliveryService, metricsService, statusPageService, namespace } = names
  const services = [webhookService, deliveryService, metricsService, ...(statusPage.enabled ? [statusPageService] : [])]
  return services.flatMap((service) => [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`])
}
