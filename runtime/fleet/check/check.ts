/**
 * Checks the facts of an installation, in order from the API server to a gateway. Pure.
 */
import { gatewaySyncKind, group, syncReportKind, version } from '../../api/names.ts'
import { syncReportStatus } from '../../api/schema/report.ts'
import { gatewaySyncSpec } from '../../api/schema/spec.ts'
import { gatewaySyncStatus } from '../../api/schema/status.ts'
import { type Members, membersOf } from '../../api/without-defaults.ts'
import type { Temporal } from '../../platform/temporal.ts'
import { type CheckFacts, ifProbed, type InstallationFacts, type InstalledCrd } from './facts.ts'
import { checkGateways, checkGit, checkImages } from './gateways.ts'
import { checkAdmission, checkDelivery, checkOperator, checkPermissions, checkCertificates } from './operator.ts'
import { type CheckReport, type Finding, reportOf } from './report.ts'
import { inContext } from '../steps.ts'
import { docsPage } from '../../platform/version.ts'

/** Omits checks that depend on an unreachable component instead of reporting each of them as failed. */
export function check(facts: CheckFacts, now: Temporal.Instant): CheckReport {
  const { server, api } = facts
  if (api.kind !== 'seen') return reportOf([unreachable(server, api.message)], now)
  const findings: Finding[] = [
    { section: 'api-server', level: 'ok', text: `the API server at ${server} answers; it runs Kubernetes ${api.value}` },
    ...checkCrds(facts),
    ...ifProbed('operator', facts.installations, (found) => checkOperators(found, facts, now)),
    ...ifProbed('git', facts.fleet, (fleet) => [...checkGit(fleet), ...checkGateways(fleet, facts, now)]),
    ...ifProbed('images', facts.images, checkImages),
  ]
  return reportOf(findings, now)
}

function unreachable(server: string, message: string): Finding {
  const advice = 'Check whether kubectl reaches it. To select another cluster, use --context or --kubeconfig.'
  return { section: 'api-server', level: 'error', text: `the API server at ${server} cannot be used: ${message}`, advice }
}

function checkOperators(found: readonly InstallationFacts[], facts: CheckFacts, now: Temporal.Instant): Finding[] {
  if (found.length === 0) {
    const advice = `If it is installed, name the namespace of its Deployment with --operator-namespace. If not, install it: ${docsPage('docs/how-to/install.md')}`
    return [{ section: 'operator', level: 'error', text: 'no operator was found in this cluster', advice }]
  }
  const fleet = facts.fleet.kind === 'seen' ? facts.fleet.value : undefined
  return found.flatMap((installation) => [
    ...checkOperator(installation, facts, now),
    ...checkPermissions(installation),
    ...checkCertificates(installation, fleet, now),
    ...checkAdmission(installation),
    ...checkDelivery(installation),
  ])
}

const crdSection = 'definitions'

const crds = [
  { kind: gatewaySyncKind, parts: { spec: gatewaySyncSpec({ allowLocal: false }), status: gatewaySyncStatus } },
  { kind: syncReportKind, parts: { status: syncReportStatus } },
] as const

/** Checks whether the CRDs exist and have the version of this release. */
function checkCrds({ definitions, context }: CheckFacts): Finding[] {
  const advice = `Apply the CRDs of the installed release: kubectl${inContext(context)} apply --server-side --force-conflicts -f crds.k8s.yaml (with Helm: the output of helm show crds <chart>)`
  return ifProbed(crdSection, definitions, (found) =>
    crds.map(({ kind, parts }): Finding => {
      const finding = checkCrd(found, `${kind.plural}.${group}`, parts)
      return finding.level === 'ok' ? finding : { ...finding, advice }
    }),
  )
}

function checkCrd(definitions: readonly InstalledCrd[], name: string, parts: Readonly<Record<string, unknown>>): Finding {
  const found = definitions.find((definition) => definition.name === name)
  if (found === undefined) return { section: crdSection, level: 'error', text: `${name} is not installed` }
  const schema = found.served.get(version)
  if (!found.established || schema === undefined)
    return {
      section: crdSection,
      level: 'error',
      text: `${name} is installed, but the API server does not serve ${version}`,
    }
  const missing = Object.entries(parts).flatMap(([part, own]) => missingMembers(membersOf(own), propertyOf(schema, part), part))
  if (missing.length === 0)
    return { section: crdSection, level: 'ok', text: `${name} is served as ${version}, with every field of this release` }
  const more = missing.length > 3 ? `, and ${missing.length - 3} more` : ''
  return {
    section: crdSection,
    level: 'warning',
    text: `${name} is from another release: it lacks ${missing.slice(0, 3).join(', ')}${more}`,
  }
}

/** Paths of members missing from the API server's schema: it would drop them silently. */
function missingMembers(members: Members, schema: unknown, path: string): string[] {
  return [...members].flatMap(([name, inner]) => {
    const at = `${path}.${name}`
    const property = propertyOf(schema, name)
    return property === undefined ? [at] : missingMembers(inner, property, at)
  })
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = (schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {}
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}
