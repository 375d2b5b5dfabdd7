/**
 * Parses and matches Kubernetes label selectors (`metav1.LabelSelector`), which choose the objects of an installation. Pure.
 */
import * as v from 'valibot'

const text = v.pipe(v.string(), v.maxLength(317))

/** All parts must match; an empty selector selects everything. */
export const labelSelector = v.strictObject({
  matchLabels: v.optional(v.record(text, text), {}),
  matchExpressions: v.optional(
    v.array(
      v.variant('operator', [
        v.strictObject({ key: text, operator: v.picklist(['In', 'NotIn']), values: v.array(text) }),
        v.strictObject({ key: text, operator: v.picklist(['Exists', 'DoesNotExist']) }),
      ]),
    ),
    [],
  ),
})

/** A parsed selector. */
export type LabelSelector = v.InferOutput<typeof labelSelector>

/** Whether a selector matches an object's labels. As in Kubernetes, NotIn also matches objects without the label. */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const valueOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(key) === value) &&
    matchExpressions.every((expression) => {
      const value = valueOf(expression.key)
      if (!('values' in expression)) return (value !== undefined) === (expression.operator === 'Exists')
      const isListed = value !== undefined && expression.values.includes(value)
      return expression.operator === 'In' ? isListed : !isListed
    })
  )
}
