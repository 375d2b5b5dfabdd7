/**
 * Checks whether the controller runs, has its permissions, answers the API server, and is reachable for agents. Pure.
 */
import { Temporal } from '../../platform/temporal.ts'
import { ageOf } from '../age.ts'
import { type CheckFacts, type Delivery, ifProbed, type InstallationFacts } from './facts.ts'
import type { Finding } from './report.ts'
import { permissionText } from './permissions.ts'
import { compareVersions } from './versions.ts'
import { inContext } from '../steps.ts'

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
export function checkPermissions({ namespace, name, rights }: InstallationFacts): Finding[] {
  const section = 'rights'
  return ifProbed(section, rights, (answers) => {
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
        advice: 'Apply the roles and bindings of the installation again: dist/operator.k8s.yaml or the chart.',
      }
    })
  })
}

/** Checks the result of the test admission. */
export function checkAdmission({ admission }: InstallationFacts): Finding[] {
  const section = 'admission'
  if (admission.kind === 'refused') return ifProbed(section, admission, () => [])
  if (admission.kind === 'notAsked') return [{ section, level: 'warning', text: `not tested: ${admission.why}` }]
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
  if (delivery.kind === 'notAsked') return { section, level: 'warning', text: `not tested: ${delivery.why}` }
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
