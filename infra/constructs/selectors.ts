/**
 * Selectors of labels, as several objects have them. Pure.
 */
import type { k8s } from 'cdk8s-plus-28'
import type { Live, Value } from '../helm/expression.ts'
import { unlessEmpty } from '../helm/nodes.ts'
import type { Values } from '../values.ts'
import type { Written } from './written.ts'

export type Selector = Written<k8s.LabelSelector>

/** A label selector without empty parts. */
export function selectorOf({ matchLabels, matchExpressions }: Live<Values>['controller']['watchLabelSelector']): Selector {
  return { matchLabels: unlessEmpty(matchLabels), matchExpressions: unlessEmpty(matchExpressions) }
}

/** Matches namespaces by their own names. */
export function namespacesNamed(operator: 'In' | 'NotIn', values: Value<readonly Value<string>[]>): Written<k8s.LabelSelectorRequirement> {
  return { key: 'kubernetes.io/metadata.name', operator, values }
}
