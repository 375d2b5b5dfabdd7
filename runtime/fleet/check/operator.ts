/**
 * Checks whether the controller runs, has its permissions, answers the API server, and is reachable for agents. Pure.
 */
import { Temporal } from '../../platform/temporal.ts'
import { ageOf } from '../age.ts'
import { type Delivery, ifProbed, type InstallationFacts } from './facts.ts'
import type { Finding } from './report.ts'
import { permissionText } from './permissions.ts'
import { compareVersions } from './versions.ts'

/** Checks whether the controller runs, has a leader, and has the version of the CLI. */
export function checkOperator(facts: InstallationFacts, cliVersion: string, now: Temporal.Instant): Finding[] {
  const section = 'operator'
  const { name, namespace, version, replicas, readyReplicas, settings } = facts
  const where = `${namespace}/${name}`
  const findings: Finding[] = []
  if (readyReplicas === 0) {
    const advice = `See why: kubectl -n ${namespace} get pods, and kubectl -n ${namespace} logs deploy/${name}`
    findings.push({ section, level: 'error', text: `${where} has no replica that is ready, of ${replicas}`, advice })
  } else if (readyReplicas < replicas) {
    findings.push({
      section,
      level: 'warning',
      text: `${where} has ${readyReplicas} of ${replicas} replicas ready`,
      advice: `See why: kubectl -n ${namespace} get pods`,
    })
  } else findings.push({ section, level: 'ok', text: `${where} has ${readyReplicas} of ${replicas} replicas ready` })
  findings.push(versionFinding(where, version, cliVersion))
  if (settings === undefined)
    findings.push({
      section,
      level: 'warning',
      text: `the settings of ${where} cannot be read`,
      advice: 'Is it a Deployment of this product?',
    })
  if (facts.lease !== undefined) findings.push(...ifProbed(section, facts.lease, (lease) => [leaseFinding(where, lease, now)]))
  return findings
}

function versionFinding(where: string, version: string | undefined, cliVersion: string): Finding {
  const section = 'operator'
  if (version === undefined) return { section, level: 'warning', text: `${where} does not say of which version it is` }
  if (compareVersions(version, cliVersion) === 'same')
    return { section, level: 'ok', text: `${where} is of version ${version}, as this command is` }
  const advice = 'Use the command of the same version: what it does not know it cannot show.'
  return { section, level: 'warning', text: `${where} is of version ${version}, this command of ${cliVersion}`, advice }
}

function leaseFinding(
  where: string,
  lease: { holder: string | undefined; renewedAt: string | undefined; durationSeconds: number } | undefined,
  now: Temporal.Instant,
): Finding {
  const section = 'operator'
  const advice = 'Without a leader nothing is fetched and no status is written. See the logs of the controller.'
  if (lease?.holder === undefined) return { section, level: 'error', text: `no replica of ${where} leads`, advice }
  const age = ageOf(lease.renewedAt, now) ?? 'an unknown time'
  // Allows for clock skew between this machine and the cluster.
  const oldest = Temporal.Duration.from({ seconds: lease.durationSeconds + 30 })
  const isFresh = lease.renewedAt !== undefined && Temporal.Instant.compare(Temporal.Instant.from(lease.renewedAt).add(oldest), now) >= 0
  return isFresh
    ? { section, level: 'ok', text: `${lease.holder} leads` }
    : { section, level: 'error', text: `${lease.holder} should lead, and has not renewed its Lease for ${age}`, advice }
}

/** Checks each permission of the controller's account. */
export function checkPermissions({ namespace, name, rights }: InstallationFacts): Finding[] {
  const section = 'rights'
  return ifProbed(section, rights, (answers) => {
    const missing = answers.filter(({ allowed }) => !allowed)
    if (missing.length === 0) {
      const accounts = new Set(answers.map(({ account }) => account)).size
      return [{ section, level: 'ok', text: `${accounts} accounts of ${namespace}/${name} and its agents have all their rights` }]
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
        advice: 'Apply the roles and bindings of the installation again: dist/operator.k8s.yaml or the chart.',
      }
    })
  })
}

/** Checks the result of the test admission. */
export function checkAdmission({ admission }: InstallationFacts): Finding[] {
  const section = 'admission'
  if (admission.kind === 'refused') return ifProbed(section, admission, () => [])
  if (admission.kind === 'notAsked') return [{ section, level: 'warning', text: `not tried: ${admission.why}` }]
  const tried = `a pod that asks for an agent in ${admission.namespace}`
  if (admission.kind === 'injected') return [{ section, level: 'ok', text: `${tried} gets one (tried, nothing was created)` }]
  if (admission.kind === 'untouched') {
    const advice = 'See the MutatingWebhookConfiguration: its selectors must match that namespace and the labels of the pods.'
    return [{ section, level: 'error', text: `${tried} gets none: the webhook is not called`, advice }]
  }
  const advice =
    'Until this is mended no gateway pod can be created. Can the API server reach the webhook, and does it trust its certificate?'
  return [{ section, level: 'error', text: `${tried} is refused: ${admission.message}`, advice }]
}

/** Checks whether agents can reach delivery. */
export function checkDelivery({ delivery }: InstallationFacts): Finding[] {
  return delivery.map(deliveryFinding)
}

function deliveryFinding(delivery: Delivery): Finding {
  const section = 'delivery'
  if (delivery.kind === 'notAsked') return { section, level: 'warning', text: `not tried: ${delivery.why}` }
  if (delivery.kind === 'refused') {
    const advice = 'Run the check inside the cluster, or as administrator.'
    return { section, level: 'warning', text: `not looked at: ${delivery.message}`, advice }
  }
  if (delivery.kind === 'answers') {
    const how = delivery.by === 'connection' ? 'answers, with a certificate that agents trust' : 'answers the API server'
    return { section, level: 'ok', text: `${delivery.url} ${how}` }
  }
  const advice = 'Gateways keep what they have meanwhile. Does the Service have endpoints, and does a NetworkPolicy permit the way?'
  return { section, level: 'error', text: `agents cannot fetch from ${delivery.url}: ${delivery.message}`, advice }
}
