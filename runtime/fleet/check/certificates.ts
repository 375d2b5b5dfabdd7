/**
 * Checks whether the controller's certificate expires soon, and whether its clients trust it: the API server by the CA bundle of the webhook, agents
 * by the CA bundle in the status. Pure: parses with node:crypto.
 */
import { X509Certificate } from 'node:crypto'
import { counted } from '../../platform/text/counted.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { FleetFacts } from '../facts.ts'
import { type CertificateSecret, ifProbed, type InstallationFacts } from './facts.ts'
import type { Finding } from './report.ts'

const section = 'certificates'
/** Minimum share of the validity period that should remain. Renewal starts much earlier, so less than this means that renewal fails. */
const minShareLeft = 0.2

/** Checks the validity period of the webhook certificate, and whether the API server and the agents trust it. */
export function checkCertificates(
  { certificate, bundles, namespace }: InstallationFacts,
  fleet: FleetFacts | undefined,
  now: Temporal.Instant,
): Finding[] {
  return ifProbed(section, certificate, (secret) => {
    const where = `Secret ${namespace}/${secret?.name ?? 'of the certificate'}`
    const leaf = parsed(secret?.leaf)
    if (secret === undefined || leaf === undefined) {
      const advice = 'The controller or cert-manager creates it; check their logs.'
      return [{ section, level: 'error', text: `${where} holds no certificate`, advice }]
    }
    const ofAgents = (fleet?.syncs ?? []).flatMap(({ status }) => status.delivery?.caBundle ?? [])
    return [
      lifeFinding(where, leaf, now),
      ...(bundles === undefined ? [] : ifProbed(section, bundles, (found) => [webhookFinding(leaf, secret, found)])),
      ...(ofAgents.length === 0 ? [] : [agentsFinding(leaf, ofAgents)]),
    ]
  })
}

function lifeFinding(where: string, leaf: X509Certificate, now: Temporal.Instant): Finding {
  const [from, until] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  const leftMs = until - now.epochMilliseconds
  const date = leaf.validToDate.toISOString().slice(0, 10)
  const advice =
    'Check why it is not renewed: in the log of the controller, or with kubectl describe certificate if cert-manager issues it.'
  if (leftMs <= 0) return { section, level: 'error', text: `the certificate in ${where} expired on ${date}`, advice }
  const days = Math.floor(leftMs / 86_400_000)
  const left = counted(days, 'day')
  if (leftMs < (until - from) * minShareLeft)
    return { section, level: 'warning', text: `the certificate in ${where} expires in ${left}, on ${date}, and was not renewed`, advice }
  return { section, level: 'ok', text: `the certificate in ${where} is valid for ${left}` }
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
    ? 'Its writer (the controller or cert-manager) does not update it, or another tool reverts it.'
    : 'The Secret does not contain the CA of its certificate either.'
  return {
    section,
    level: 'error',
    text: 'the CA bundle of the webhook does not trust the certificate: gateway pods cannot be created',
    advice,
  }
}

function agentsFinding(leaf: X509Certificate, ofAgents: readonly string[]): Finding {
  const wrong = ofAgents.filter((bundle) => !isTrusted(leaf, bundle)).length
  if (wrong === 0) return { section, level: 'ok', text: 'agents receive a CA bundle that trusts the certificate' }
  const advice = 'The controller writes it in each reconcile; check whether a replica is the leader.'
  return {
    section,
    level: 'error',
    text: `${wrong} of ${ofAgents.length} GatewaySyncs give their agents a CA bundle that does not trust the certificate`,
    advice,
  }
}

/** Returns whether a CA of the bundle signed the certificate, or the bundle contains the certificate. */
function isTrusted(leaf: X509Certificate, bundle: string): boolean {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.some((block) => {
    const authority = parsed(block)
    if (authority === undefined) return false
    return authority.fingerprint256 === leaf.fingerprint256 || (leaf.checkIssued(authority) && leaf.verify(authority.publicKey))
  })
}

/** Parses the first of several certificates, which is the leaf of a chain. */
function parsed(pem: string | undefined): X509Certificate | undefined {
  if (pem === undefined) return undefined
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}
