/**
 * How the constructs make objects of the API: of a kind of cdk8s-plus-28 or of imports/, by whose types a manifest is checked when it is
 * compiled. Where only Helm knows the values, the object is a template instead.
 */
import { ApiObject, type GroupVersionKind } from 'cdk8s'
import type { Construct } from 'constructs'
import { Expression, isExpression, type Value } from '../helm/expression.ts'
import { each, isKnown } from '../helm/nodes.ts'
import { TemplateObject } from '../helm/template-object.ts'
import type { Metadata, Written } from './written.ts'

/** The class of a kind, such as `k8s.KubeService`. Its own rendering is not used: it drops every field that it does not know. */
type Kind = { readonly GVK: GroupVersionKind; new (scope: Construct, id: string, props: never): ApiObject }

/** The manifest of an object of a kind, without apiVersion and kind. */
export type ManifestOf<K extends Kind> = Omit<Written<NonNullable<ConstructorParameters<K>[2]>>, 'metadata'> & {
  readonly metadata: Metadata
}

/** One condition, or several; the chart asks each of them only where those before it hold. */
type Conditions = Value<boolean> | readonly Value<boolean>[]

/** Makes an object that every installation has. */
export function apiObject<K extends Kind>(scope: Construct, id: string, kind: K, manifest: ManifestOf<K>): ApiObject {
  return place(scope, id, { ...kind.GVK, ...manifest }, [])
}

/** Makes an object where the conditions hold; undefined where one is known not to. */
export function apiObjectWhen<K extends Kind>(
  conditions: Conditions,
  scope: Construct,
  id: string,
  kind: K,
  manifest: ManifestOf<K>,
): ApiObject | undefined {
  const all = listed(conditions)
  return all.includes(false) ? undefined : place(scope, id, { ...kind.GVK, ...manifest }, all)
}

/** Makes an object for each element of a list. Where only Helm knows the list, one template is repeated and calls the element `variable`. */
export function apiObjectForEach<K extends Kind, Element>(
  { variable, list, when = true }: { variable: string; list: Value<readonly Element[]>; when?: Conditions },
  scope: Construct,
  id: string,
  kind: K,
  manifestOf: (element: Value<Element>) => ManifestOf<K>,
): ApiObject[] {
  const all = listed(when)
  if (all.includes(false)) return []
  const manifests = each(variable, list, (element) => ({ ...kind.GVK, ...manifestOf(element) }))
  return manifests.map((manifest, index) => place(scope, `${id}-${index}`, manifest, all))
}

/** Makes an object whose kind depends on values. The caller has to annotate the manifest's type. */
export function place(
  scope: Construct,
  id: string,
  manifest: { apiVersion: string; kind: Value<string> },
  conditions: readonly Value<boolean>[],
): ApiObject {
  const open = conditions.filter((condition): condition is Expression<boolean> => isExpression(condition))
  if (open.length > 0 || !isKnown(manifest)) return new TemplateObject(scope, id, manifest, open)
  return new ApiObject(scope, id, manifest as { apiVersion: string; kind: string })
}

function listed(conditions: Conditions): readonly Value<boolean>[] {
  return isExpression(conditions) || typeof conditions === 'boolean' ? [conditions] : conditions
}
