/**
 * Kubernetes kinds as CRDs for the importer: those that are newer than the types of cdk8s-plus-28. Pure.
 */

type Schema = { $ref?: string; allOf?: Schema[]; properties?: Record<string, Schema>; items?: Schema; [keyword: string]: unknown }
/** The OpenAPI document of one group and version, as an API server answers it. */
export type OpenApi = { components: { schemas: Record<string, Schema> } }

/** A CRD of each kind, with its schema expanded. Throws an Error for a kind that the document does not have. */
export function definitionsFrom(
  { components: { schemas } }: OpenApi,
  group: string,
  version: string,
  kinds: readonly string[],
): Definition[] {
  return kinds.map((kind) => {
    const found = Object.values(schemas).find((schema) => isOf(schema, group, version, kind))
    if (found === undefined) throw new Error(`the document of ${group}/${version} has no ${kind}`)
    const { metadata: _metadata, ...properties } = found.properties ?? {}
    const openAPIV3Schema = writtenOut({ type: 'object', properties }, schemas)
    const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies')
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, names: { kind, plural }, scope: 'Cluster', versions: [{ name: version, served: true, schema: { openAPIV3Schema } }] },
    }
  })
}

type Definition = { apiVersion: string; kind: string; metadata: { name: string }; spec: Record<string, unknown> }

function isOf(schema: Schema, group: string, version: string, kind: string): boolean {
  const names = (schema['x-kubernetes-group-version-kind'] ?? []) as { group: string; version: string; kind: string }[]
  return names.some((name) => name.group === group && name.version === version && name.kind === kind)
}

/** No schema of these kinds contains itself. */
function writtenOut(schema: Schema, all: OpenApi['components']['schemas']): Schema {
  const { $ref, allOf, properties, items, ...keywords } = schema
  const [only] = allOf ?? []
  const referred = $ref ?? only?.$ref
  if (referred !== undefined) return { ...keywords, ...writtenOut(all[referred.replace('#/components/schemas/', '')] ?? {}, all) }
  return {
    ...keywords,
    ...(items === undefined ? {} : { items: writtenOut(items, all) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, writtenOut(inner, all)])) }),
  }
}
