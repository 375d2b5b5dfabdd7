/**
 * The two CRDs, generated from the schemas that the runtime validates with. Pure.
 */
import { toJsonSchema } from '@valibot/to-json-schema'
import { k8s } from 'cdk8s-plus-28'
import type * as v from 'valibot'
import { gatewaySyncKind, group, syncReportKind, version } from '../runtime/api/names.ts'
import { syncReportSpec, syncReportStatus } from '../runtime/api/schema/report.ts'
import { gatewaySyncSpec } from '../runtime/api/schema/spec.ts'
import { gatewaySyncStatus } from '../runtime/api/schema/status.ts'
import { type CelRule, celRuleOf } from '../runtime/api/schema/fields.ts'

type JsonObject = Record<string, unknown>

/** A structural schema as `apiextensions.k8s.io/v1` accepts it. */
function structuralSchema(schema: v.GenericSchema): JsonObject {
  const generated = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    overrideAction({ valibotAction, jsonSchema }) {
      const rule = celRuleOf(valibotAction)
      const present = jsonSchema as JsonObject
      if (rule !== undefined) return { ...present, 'x-kubernetes-validations': [...rulesOf(present), rule] } as typeof jsonSchema
      return undefined
    },
  })
  return structural(generated as JsonObject)
}

function rulesOf(keywords: JsonObject): CelRule[] {
  return (keywords['x-kubernetes-validations'] as CelRule[] | undefined) ?? []
}

/** Keywords of JSON schema that the API server rejects or silently drops. */
const refusedKeywords = new Set(['$schema', '$defs', '$ref', 'propertyNames', 'const'])

/** The schema as the API server accepts it: without `additionalProperties` where `properties` is set. */
function structural(generated: JsonObject): JsonObject {
  // valibot copies pipe metadata into the schema.
  const { crd: own, ...others } = generated
  const keywords: JsonObject = { ...others, ...(own as JsonObject | undefined) }
  const result: JsonObject = {}
  for (const [name, value] of Object.entries(keywords)) {
    if (refusedKeywords.has(name) || value === undefined) continue
    if (name === 'properties' || name === 'patternProperties') {
      result[name] = Object.fromEntries(Object.entries(value as Record<string, JsonObject>).map(([key, inner]) => [key, field(key, inner)]))
    } else if (name === 'items') result[name] = structural(value as JsonObject)
    else if (name === 'additionalProperties') {
      if (typeof value === 'object' && keywords['properties'] === undefined) result[name] = structural(value as JsonObject)
    } else if (name === 'required' && (value as string[]).length === 0) continue
    else result[name] = value
  }
  if ('const' in keywords) result['enum'] = [keywords['const']]
  if (result['type'] === 'array') result['x-kubernetes-list-type'] ??= 'atomic'
  return result
}

/** A partial reference to a Secret has no meaning, so server-side apply replaces it as a whole. */
function field(name: string, generated: JsonObject): JsonObject {
  const schema = structural(generated)
  return /secretRef$/i.test(name) ? { ...schema, 'x-kubernetes-map-type': 'atomic' } : schema
}

type Column = { name: string; type: 'string' | 'integer' | 'date'; jsonPath: string; description?: string; priority?: number }

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** Columns of priority 0 fit into 120 characters; `-o wide` also prints the others. */
const gatewaySyncColumns: Column[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  {
    name: 'Gateways',
    type: 'string',
    jsonPath: '.status.columns.gateways',
    description: 'Gateways that run the published commit, out of all gateways.',
  },
  { name: 'Commit', type: 'string', jsonPath: '.status.columns.commit', description: 'The published commit.' },
  { name: 'Published', type: 'date', jsonPath: '.status.published.at', description: 'How long ago the commit was published.' },
  { name: 'Message', type: 'string', jsonPath: '.status.columns.message', description: 'Reason for the Ready status.' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
  { name: 'Ref', type: 'string', jsonPath: '.status.source.ref', priority: 1 },
  { name: 'Drifted', type: 'integer', jsonPath: '.status.gateways.drifted', description: 'Gateways with local changes.', priority: 1 },
  { name: 'Errors', type: 'integer', jsonPath: '.status.findings.errors', description: 'Validation errors.', priority: 1 },
  { name: 'Warnings', type: 'integer', jsonPath: '.status.findings.warnings', description: 'Validation warnings.', priority: 1 },
  { name: 'Rollout', type: 'string', jsonPath: '.status.rollout.state', description: 'State of the staged rollout.', priority: 1 },
  { name: 'Stage', type: 'string', jsonPath: '.status.rollout.stage', description: 'Current stage.', priority: 1 },
  age,
]

const syncReportColumns: Column[] = [
  { name: 'GatewaySync', type: 'string', jsonPath: '.spec.gatewaySync' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Mode', type: 'string', jsonPath: '.status.mode.name' },
  { name: 'Commit', type: 'string', jsonPath: '.status.columns.commit', description: 'The commit whose files are in place.' },
  { name: 'Last Sync', type: 'date', jsonPath: '.status.finishedAt', description: 'How long ago the last sync ended.' },
  { name: 'Message', type: 'string', jsonPath: '.status.columns.message', description: 'Why the gateway is not synced.' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', priority: 1 },
  { name: 'Ref', type: 'string', jsonPath: '.status.ref', priority: 1 },
  { name: 'Gateway', type: 'string', jsonPath: '.status.gateway', priority: 1 },
  { name: 'Profile', type: 'string', jsonPath: '.status.profile', priority: 1 },
  { name: 'Drift', type: 'integer', jsonPath: '.status.drift.count', description: 'Files that were changed locally.', priority: 1 },
  { name: 'Findings', type: 'integer', jsonPath: '.status.columns.findings', priority: 1 },
  { name: 'Agent', type: 'string', jsonPath: '.status.agentVersion', description: 'Version of the agent.', priority: 1 },
  age,
]

type CustomResourceDefinition = {
  apiVersion: string
  kind: string
  metadata: { name: string; annotations: Record<string, string> }
  spec: { names: { kind: string } & JsonObject; versions: object[] } & JsonObject
}

/** Deleting a CRD deletes every object of its kind, so tools must not prune it. */
const keep = {
  'helm.sh/resource-policy': 'keep',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
}

/** The CustomResourceDefinition of GatewaySync, generated from the valibot schemas that also validate at run time. */
export function gatewaySyncCrd(): CustomResourceDefinition {
  const spec = structuralSchema(gatewaySyncSpec({ allowLocal: false }))
  const status = structuralSchema(gatewaySyncStatus)
  return definition(
    gatewaySyncKind,
    'Selects the commit of a repository that gateways in the same namespace run.',
    spec,
    status,
    gatewaySyncColumns,
  )
}

/** The CustomResourceDefinition of SyncReport, generated like that of GatewaySync. */
export function syncReportCrd(): CustomResourceDefinition {
  const spec = structuralSchema(syncReportSpec)
  return definition(
    syncReportKind,
    'What one gateway runs, as reported by the agent in its pod.',
    spec,
    structuralSchema(syncReportStatus),
    syncReportColumns,
  )
}

function definition(
  { kind, plural, singular, short }: { kind: string; plural: string; singular: string; short: string },
  description: string,
  spec: JsonObject,
  status: JsonObject,
  columns: Column[],
): CustomResourceDefinition {
  const schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec, status },
  }
  return {
    ...k8s.KubeCustomResourceDefinition.GVK,
    metadata: { name: `${plural}.${group}`, annotations: keep },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [short], categories: ['clustersync'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  }
}
