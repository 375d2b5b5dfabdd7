/**
 * The CRDs: protection from deletion, and the columns of a list.
 */
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { matchObject } from '../support/assertions.ts'

type Version = { additionalPrinterColumns: { name: string; jsonPath: string }[] }

void t.test('Helm, Argo CD and Flux do not delete a CRD that is missing in their manifests', async (t) => {
  for (const { metadata } of [gatewaySyncCrd(), syncReportCrd()]) {
    matchObject(
      t,
      metadata.annotations,
      {
        'helm.sh/resource-policy': 'keep',
        'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
        'kustomize.toolkit.fluxcd.io/prune': 'disabled',
      },
      metadata.name,
    )
  }
})

void t.test('a list of SyncReports shows the version of each agent', async (t) => {
  const [version] = syncReportCrd().spec.versions as unknown as Version[]
  matchObject(
    t,
    version?.additionalPrinterColumns.find(({ name }) => name === 'Agent'),
    { jsonPath: '.status.agentVersion' },
  )
})

void t.test('every field of both kinds has a description for kubectl explain', async (t) => {
  for (const { metadata, spec } of [gatewaySyncCrd(), syncReportCrd()]) {
    const [version] = spec.versions as unknown as { schema: { openAPIV3Schema: Schema } }[]
    const { spec: wish, status } = version?.schema.openAPIV3Schema.properties ?? {}
    t.strictSame([...undescribed(wish, 'spec'), ...undescribed(status, 'status')], [], metadata.name)
  }
})

type Schema = { description?: string; properties?: Record<string, Schema>; items?: Schema; additionalProperties?: Schema | boolean }

/** Paths of the fields below a schema that have no description. */
function undescribed({ properties = {}, items, additionalProperties }: Schema = {}, path: string): string[] {
  const own = Object.entries(properties).flatMap(([name, field]) => {
    const at = `${path}.${name}`
    return [...(field.description === undefined ? [at] : []), ...undescribed(field, at)]
  })
  const values = typeof additionalProperties === 'object' ? undescribed(additionalProperties, `${path}.*`) : []
  return [...own, ...(items === undefined ? [] : undescribed(items, `${path}[]`)), ...values]
}
