/**
 * Whether the certificate of the controller lasts, and whether those who connect to it trust it: the API server by the bundle of the webhook,
 * agents by the bundle in the status. Pure: parses with node:crypto.
 */
import { X509Certificate } from 'node:crypto'
import { counted } from '../../counted.ts'
import type { FleetFacts } from '../facts.ts'
import type { CertificateSecret, InstallationFacts } from './facts.ts'
import { looked } from './looked.ts'
import type { Finding } from './report.ts'

const section = 'certificates'
/** Of its life; renewal begins long before, so that something keeps it from happening. */
const leastLeft = 0.2

/** Judges the certificate of the webhooks: its life, and whether API server and agents trust it. */
export function checkCertificates(
  { certificate, bundles, namespace }: InstallationFacts,
  fleet: FleetFacts | undefined,
  now: Temporal.Instant,
): Finding[] {
  return looked(section, certificate, (secret) => {
    const where = `Secret ${namespace}/${secret?.name ?? 'of the certificate'}`
    const leaf = parsed(secret?.leaf)
    if (secret === undefined || leaf === undefined) {
      const advice = 'The controller or cert-manager makes it; see their logs.'
      return [{ section, level: 'error', text: `${where} holds no certificate`, advice }]
    }
    const told = (fleet?.syncs ?? []).flatMap(({ status }) => status.delivery?.caBundle ?? [])
    return [
      lifeFinding(where, leaf, now),
      ...(bundles === undefined ? [] : looked(section, bundles, (found) => [webhookFinding(leaf, secret, found)])),
      ...(told.length === 0 ? [] : [agentsFinding(leaf, told)]),
    ]
  })
}

function lifeFinding(where: string, leaf: X509Certificate, now: Temporal.Instant): Finding {
  const [from, until] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  const leftMs = until - now.epochMilliseconds
  const date = leaf.validToDate.toISOString().slice(0, 10)
  const advice = 'See why it is not renewed: the logs of the controller, or kubectl describe certificate where cert-manager makes it.'
  if (leftMs <= 0) return { section, level: 'error', text: `the certificate in ${where} has expired on ${date}`, advice }
  const days = Math.floor(leftMs / 86_400_000)
  const left = counted(days, 'day')
  if (leftMs < (until - from) * leastLeft)
    return { section, level: 'warning', text: `the certificate in ${where} ends in ${left}, on ${date}, and is not renewed`, advice }
  return { section, level: 'ok', text: `the certificate in ${where} is good for ${left}` }
}

function webhookFinding(leaf: X509Certificate, { authority }: CertificateSecret, bundles: readonly string[] | undefined): Finding {
  if (bundles === undefined) {
    const advice = 'Apply the manifests of the installation again.'
    return { section, level: 'error', text: 'the MutatingWebhookConfiguration of the installation is missing', advice }
  }
  if (bundles.every((bundle) => isTrusted(leaf, bundle)))
    return { section, level: 'ok', text: 'the CA bundle of the webhook trusts the certificate' }
  const isKnown = authority !== undefined && isTrusted(leaf, authority)
  const advice = isKnown
    ? 'Who writes it (the controller or cert-manager) does not follow the Secret, or another tool puts back its own.'
    : 'The Secret does not hold the authority of its certificate either.'
  return {
    section,
    level: 'error',
    text: 'the CA bundle of the webhook does not trust the certificate: gateway pods cannot be created',
    advice,
  }
}

function agentsFinding(leaf: X509Certificate, told: readonly string[]): Finding {
  const wrong = told.filter((bundle) => !isTrusted(leaf, bundle)).length
  if (wrong === 0) return { section, level: 'ok', text: 'agents are told a CA bundle that trusts the certificate' }
  const advice = 'The controller writes it with each pass; see whether a replica leads.'
  return {
    section,
    level: 'error',
    text: `${wrong} of ${told.length} GatewaySyncs tell their agents a CA bundle that does not trust the certificate`,
    advice,
  }
}

/** Whether one of the authorities of a bundle signed it, or it stands there itself. */
function isTrusted(leaf: X509Certificate, bundle: string): boolean {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.some((block) => {
    const authority = parsed(block)
    if (authority === undefined) return false
    return authority.fingerprint256 === leaf.fingerprint256 || (leaf.checkIssued(authority) && leaf.verify(authority.publicKey))
  })
}

/** Of several certificates the first, which is the leaf of a chain. */
function parsed(pem: string | undefined): X509Certificate | undefined {
  if (pem === undefined) return undefined
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}
