/**
 * What every object of an installation says of itself: its name, and the labels and annotations that all of them have. Pure.
 */
import { merged } from '../helm/combinators.ts'
import type { Value } from '../helm/expression.ts'
import { unlessEmpty } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Metadata } from './written.ts'

type Texts = Value<Readonly<Record<string, Value<string>>>>

/** Labels and annotations of one object, which win over those that all have. */
type Own = { labels?: Texts; annotations?: Texts }

/** The metadata of an object in the namespace of the release, unless another one is given. */
export function namespaced(
  names: Names,
  name: Value<string>,
  { namespace = names.namespace, ...own }: Own & { namespace?: Value<string> } = {},
): Metadata {
  return { name, namespace, ...common(names, own) }
}

/** The metadata of an object that is in no namespace. */
export function clusterWide(names: Names, name: Value<string>, own: Own = {}): Metadata {
  return { name, ...common(names, own) }
}

function common(names: Names, { labels = {}, annotations = {} }: Own): Pick<Metadata, 'labels' | 'annotations'> {
  return {
    labels: merged<Value<string>>(names.labels, labels),
    annotations: unlessEmpty(merged<Value<string>>(names.annotations, annotations)),
  }
}
