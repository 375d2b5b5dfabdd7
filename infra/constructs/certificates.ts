/**
 * Who makes the certificate of the secure ports, for which names, and what cert-manager is asked for.
 */
import type { ApiObject } from 'cdk8s'
import { Construct } from 'constructs'
import { Certificate, Issuer } from '../../imports/cert-manager.io.js'
import { and, isSet, not, text } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObjectWhen, type ManifestOf } from './api-object.ts'
import type { Installation } from './installation.ts'
import { namespaced } from './metadata.ts'

/**
 * Certificates by cert-manager: an authority of our own between the self-signed root and the leaf, so that a renewed leaf changes nothing
 * that agents and the API server trust.
 */
export class Certificates extends Construct {
  readonly selfSigned: ApiObject | undefined
  readonly authority: ApiObject | undefined
  readonly issuer: ApiObject | undefined
  /** What every secure port of the controller serves with. */
  readonly certificate: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { certManager } = certificateBy(values)
    const { fullname, certificateSecret } = names
    const root = text`${fullname}-selfsigned`
    const authority = text`${fullname}-ca`
    const issuer = (id: string, name: Value<string>, spec: ManifestOf<typeof Issuer>['spec']): ApiObject | undefined =>
      apiObjectWhen(certManager, this, id, Issuer, { metadata: namespaced(names, name), spec })
    const certificate = (id: string, name: Value<string>, spec: ManifestOf<typeof Certificate>['spec']): ApiObject | undefined =>
      apiObjectWhen(certManager, this, id, Certificate, { metadata: namespaced(names, name), spec })
    this.selfSigned = issuer('self-signed', root, { selfSigned: {} })
    this.authority = certificate('authority', authority, {
      isCA: true,
      commonName: authority,
      secretName: authority,
      duration: '87600h',
      // With the same key, whoever trusts the authority's certificate from before a renewal also trusts leaves from after it.
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
      issuerRef: { name: root, kind: 'Issuer', group: 'cert-manager.io' },
    })
    this.issuer = issuer('issuer', authority, { ca: { secretName: authority } })
    this.certificate = certificate('certificate', certificateSecret, {
      secretName: certificateSecret,
      dnsNames: servedNames(names, values),
      duration: '2160h',
      renewBefore: '720h',
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      usages: ['server auth'],
      issuerRef: { name: authority, kind: 'Issuer', group: 'cert-manager.io' },
    })
  }
}

/** Who makes the certificate of every secure port; a Secret that the values name wins. */
type CertificateBy = Record<'existing' | 'certManager' | 'selfManaged', Value<boolean>>

/** Who makes the certificate of the webhooks: a Secret that is there already, cert-manager, or the controller itself. */
export function certificateBy({ webhook: { existingSecret }, certManager }: Live<Values>): CertificateBy {
  const existing = isSet(existingSecret)
  return { existing, certManager: and(not(existing), certManager.enabled), selfManaged: and(not(existing), not(certManager.enabled)) }
}

/** The names that the certificate is for. That of the status page is only among them where there is one: a new name is a new certificate. */
export function servedNames(
  { webhookService, deliveryService, metricsService, statusPageService, namespace }: Names,
  { statusPage }: Live<Values>,
): Value<string>[] {
  return [
    ...dnsNames([webhookService, deliveryService, metricsService], namespace),
    ...when<Value<string>>(statusPage.enabled, dnsNames([statusPageService], namespace)),
  ]
}

/** The names by which pods of any namespace reach Services. */
function dnsNames(services: readonly Value<string>[], namespace: Value<string>): Value<string>[] {
  return services.flatMap((service) => [text`${service}.${namespace}.svc`, text`${service}.${namespace}.svc.cluster.local`])
}
