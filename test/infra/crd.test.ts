/**
 * The definitions of the kinds: what keeps them, and what people see of an object in a list.
 */
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'

type Version = { additionalPrinterColumns: { name: string; jsonPath: string }[] }

void t.test('no tool takes a definition away, and with it every object of its kind, because it is in no list any more', async (t) => {
  for (const { metadata } of [gatewaySyncCrd(), syncReportCrd()]) {
    t.match(
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

void t.test('a list of SyncReports tells the version of each agent', async (t) => {
  const [version] = syncReportCrd().spec.versions as unknown as Version[]
  t.match(
    version?.additionalPrinterColumns.find(({ name }) => name === 'Agent'),
    { jsonPath: '.status.agentVersion' },
  )
})

void t.test('every field of both kinds says what it means, so that kubectl explain does', async (t) => {
  for (const { metadata, spec } of [gatewaySyncCrd(), syncReportCrd()]) {
    const [version] = spec.versions as unknown as { schema: { openAPIV3Schema: Schema } }[]
    const { spec: wish, status } = version?.schema.openAPIV3Schema.properties ?? {}
    t.same([...undescribed(wish, 'spec'), ...undescribed(status, 'status')], [], metadata.name)
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
