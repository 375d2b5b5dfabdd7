/**
 * Judges the facts of an installation, along the road from the API server to a gateway. Pure.
 */
import { checkCertificates } from './certificates.ts'
import { checkDefinitions } from './definitions.ts'
import type { CheckFacts, InstallationFacts } from './facts.ts'
import { checkGateways, checkGit, checkImages } from './gateways.ts'
import { looked } from './looked.ts'
import { checkAdmission, checkDelivery, checkOperator, checkRights } from './operator.ts'
import { type CheckReport, type Finding, reportOf } from './report.ts'

/** What lies behind something that cannot be reached is left out rather than called broken too. */
export function check(facts: CheckFacts, now: Temporal.Instant): CheckReport {
  const { server, api } = facts
  if (api.kind !== 'seen') return reportOf([unreachable(server, api.message)], now)
  const findings: Finding[] = [
    { section: 'api-server', level: 'ok', text: `the API server at ${server} answers; it runs Kubernetes ${api.value}` },
    ...checkDefinitions(facts.definitions),
    ...looked('operator', facts.installations, (found) => checkOperators(found, facts, now)),
    ...looked('git', facts.fleet, (fleet) => [...checkGit(fleet), ...checkGateways(fleet, facts, now)]),
    ...looked('images', facts.images, checkImages),
  ]
  return reportOf(findings, now)
}

function unreachable(server: string, message: string): Finding {
  const advice = 'See whether kubectl reaches it; another cluster is named with --context or --kubeconfig.'
  return { section: 'api-server', level: 'error', text: `the API server at ${server} cannot be used: ${message}`, advice }
}

function checkOperators(found: readonly InstallationFacts[], facts: CheckFacts, now: Temporal.Instant): Finding[] {
  if (found.length === 0) {
    const advice = 'Install it: docs/install.md. If it is installed, look where its Deployment is, with --operator-namespace.'
    return [{ section: 'operator', level: 'error', text: 'no operator was found in this cluster', advice }]
  }
  const fleet = facts.fleet.kind === 'seen' ? facts.fleet.value : undefined
  return found.flatMap((installation) => [
    ...checkOperator(installation, facts.cliVersion, now),
    ...checkRights(installation),
    ...checkCertificates(installation, fleet, now),
    ...checkAdmission(installation),
    ...checkDelivery(installation),
  ])
}
