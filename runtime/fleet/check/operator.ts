/**
 * Checks whether the controller runs, has its permissions, answers the API server, and is reachable for agents. Pure.
 */
import { Temporal } from '../../platform/temporal.ts'
import { ageOf } from '../age.ts'
import { type CheckFacts, type Delivery, ifProbed, type InstallationFacts, type CertificateSecret } from './facts.ts'
import type { Finding } from './report.ts'
import { permissionText } from './permissions.ts'
import { inContext } from '../steps.ts'
import { X509Certificate } from 'node:crypto'
import { counted } from '../../platform/text/counted.ts'
import type { FleetFacts } from '../facts.ts'
import { compareVersions } from '../../platform/version.ts'

/** Checks whether the controller runs, has a leader, and has the version of the CLI. */
export function checkOperator(
  facts: InstallationFacts,
  { cliVersion, context }: Pick<CheckFacts, 'cliVersion' | 'context'>,
  now: Temporal.Instant,
): Finding[] {
  const section = 'operator'
  const { name, namespace, version, replicas, readyReplicas, settings } = facts
  const where = `${namespace}/${name}`
  const kubectl = `kubectl${inContext(context)} -n ${namespace}`
  const findings: Finding[] = []
  if (readyReplicas === 0) {
    const advice = `Check: ${kubectl} get pods, and ${kubectl} logs deploy/${name}`
    findings.push({ section, level: 'error', text: `${where} has 0 of ${replicas} replicas ready`, advice })
  } else if (readyReplicas < replicas) {
    findings.push({
      section,
      level: 'warning',
      text: `${where} has ${readyReplicas} of ${replicas} replicas ready`,
      advice: `Check: ${kubectl} get pods`,
    })
  } else findings.push({ section, level: 'ok', text: `${where} has ${readyReplicas} of ${replicas} replicas ready` })
  findings.push(versionFinding(where, version, cliVersion))
  if (settings === undefined)
    findings.push({
      section,
      level: 'warning',
      text: `the settings of ${where} cannot be read`,
      advice: 'Check that it is a Deployment of this operator.',
    })
  if (facts.lease !== undefined) findings.push(...ifProbed(section, facts.lease, (lease) => [leaseFinding(where, lease, now)]))
  return findings
}

function versionFinding(where: string, version: string | undefined, cliVersion: string): Finding {
  const section = 'operator'
  if (version === undefined) return { section, level: 'warning', text: `${where} does not state its version` }
  if (compareVersions(version, cliVersion) === 'same')
    return { section, level: 'ok', text: `${where} has version ${version}, like this command` }
  const advice = 'Use the command line of the same version; this one may not show everything.'
  return { section, level: 'warning', text: `${where} has version ${version}, this command ${cliVersion}`, advice }
}

function leaseFinding(
  where: string,
  lease: { holder: string | undefined; renewedAt: string | undefined; durationSeconds: number } | undefined,
  now: Temporal.Instant,
): Finding {
  const section = 'operator'
  const advice = 'Without a leader, no commit is fetched and no status is written. Check the log of the controller.'
  if (lease?.holder === undefined) return { section, level: 'error', text: `no replica of ${where} is the leader`, advice }
  const age = ageOf(lease.renewedAt, now) ?? 'an unknown time'
  // Allows for clock skew between this machine and the cluster.
  const oldest = Temporal.Duration.from({ seconds: lease.durationSeconds + 30 })
  const isFresh = lease.renewedAt !== undefined && Temporal.Instant.compare(Temporal.Instant.from(lease.renewedAt).add(oldest), now) >= 0
  return isFresh
    ? { section, level: 'ok', text: `${lease.holder} is the leader` }
    : { section, level: 'error', text: `${lease.holder} is the leader, but has not renewed its Lease for ${age}`, advice }
}

/** Checks each permission of the controller's account. */
export function checkPermissions({ namespace, name, permissions }: InstallationFacts): Finding[] {
  const section = 'permissions'
  return ifProbed(section, permissions, (answers) => {
    const missing = answers.filter(({ allowed }) => !allowed)
    if (missing.length === 0) {
      const accounts = new Set(answers.map(({ account }) => account)).size
      return [{ section, level: 'ok', text: `${accounts} accounts of ${namespace}/${name} and its agents have all permissions` }]
    }
    const byAccount = Map.groupBy(missing, ({ account }) => account)
    return [...byAccount].map(([account, refused]): Finding => {
      const words = [
        ...new Set(refused.map(({ right, namespace }) => `${permissionText(right)}${namespace === undefined ? '' : ` in ${namespace}`}`)),
      ]
      const more = words.length > 3 ? `, and ${words.length - 3} more` : ''
      return {
        section,
        level: 'error',
        text: `${account} may not ${words.slice(0, 3).join(', ')}${more}`,
        advice: 'Apply the roles and bindings of the installation again: operator.k8s.yaml, or the chart.',
      }
    })
  })
}

/** Checks the result of the test admission. */
export function checkAdmission({ admission }: InstallationFacts): Finding[] {
  const section = 'admission'
  if (admission.kind === 'refused') return ifProbed(section, admission, () => [])
  if (admission.kind === 'notTested') return [{ section, level: 'warning', text: `not tested: ${admission.why}` }]
  const tried = `a pod that requests an agent in ${admission.namespace}`
  if (admission.kind === 'injected') return [{ section, level: 'ok', text: `${tried} gets one (dry run)` }]
  if (admission.kind === 'untouched') {
    const advice = 'Check the MutatingWebhookConfiguration: its selectors must match that namespace and the labels of the pods.'
    return [{ section, level: 'error', text: `${tried} gets none: the webhook is not called`, advice }]
  }
  const advice =
    'Gateway pods cannot be created until this is fixed. Check that the API server can reach the webhook and trusts its certificate.'
  return [{ section, level: 'error', text: `${tried} is refused: ${admission.message}`, advice }]
}

/** Checks whether agents can reach delivery. */
export function checkDelivery({ delivery }: InstallationFacts): Finding[] {
  return delivery.map(deliveryFinding)
}

function deliveryFinding(delivery: Delivery): Finding {
  const section = 'delivery'
  if (delivery.kind === 'notTested') return { section, level: 'warning', text: `not tested: ${delivery.why}` }
  if (delivery.kind === 'refused') {
    const advice = 'Run the check in the cluster, or with administrator permissions.'
    return { section, level: 'warning', text: `not checked: ${delivery.message}`, advice }
  }
  if (delivery.kind === 'answers') {
    const how = delivery.by === 'connection' ? 'answers, with a certificate that agents trust' : 'answers the API server'
    return { section, level: 'ok', text: `${delivery.url} ${how}` }
  }
  const advice = 'Gateways keep their files. Check that the Service has endpoints and that NetworkPolicies permit the connection.'
  return { section, level: 'error', text: `agents cannot fetch from ${delivery.url}: ${delivery.message}`, advice }
}

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
      return [{ section, level: 'error', text: `${where} does not contain a certificate`, advice }]
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
