/**
 * Whether the kinds are defined as this release writes them. Pure.
 */
import { gatewaySyncKind, group, syncReportKind, version } from '../../gatewaysync/names.ts'
import { syncReportStatus } from '../../gatewaysync/schema/report.ts'
import { gatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import { gatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { type Members, membersOf } from '../../gatewaysync/without-defaults.ts'
import type { CheckFacts, Definition } from './facts.ts'
import { looked } from './looked.ts'
import type { Finding } from './report.ts'

const section = 'definitions'
const install = 'Apply the definitions of the release that runs: kubectl apply --server-side -f dist/crds.k8s.yaml'

const known = [
  { kind: gatewaySyncKind, parts: { spec: gatewaySyncSpec({ allowLocal: false }), status: gatewaySyncStatus } },
  { kind: syncReportKind, parts: { status: syncReportStatus } },
] as const

/** Judges whether the CRDs are there and of this version. */
export function checkDefinitions(fact: CheckFacts['definitions']): Finding[] {
  return looked(section, fact, (definitions) => known.map(({ kind, parts }) => checkOne(definitions, `${kind.plural}.${group}`, parts)))
}

function checkOne(definitions: readonly Definition[], name: string, parts: Readonly<Record<string, unknown>>): Finding {
  const found = definitions.find((definition) => definition.name === name)
  if (found === undefined) return { section, level: 'error', text: `${name} is not defined`, advice: install }
  const schema = found.served.get(version)
  if (!found.established || schema === undefined)
    return { section, level: 'error', text: `${name} is defined, but the API server does not serve ${version}`, advice: install }
  const missing = Object.entries(parts).flatMap(([part, own]) => missingMembers(membersOf(own), propertyOf(schema, part), part))
  if (missing.length === 0)
    return { section, level: 'ok', text: `${name} is served as ${version}, with every field that this release knows` }
  const more = missing.length > 3 ? `, and ${missing.length - 3} more` : ''
  return {
    section,
    level: 'warning',
    text: `${name} is of another release: it lacks ${missing.slice(0, 3).join(', ')}${more}`,
    advice: install,
  }
}

/** Paths of members that the schema of the API server lacks: it would drop them silently. */
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
