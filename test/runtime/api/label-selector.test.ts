import t from 'tap'
import * as v from 'valibot'
import { labelSelector, selects } from '../../../runtime/api/label-selector.ts'

const north = { site: 'north', tier: 'edge' }

/** Selection follows the API server's rules for webhooks and policies. */
const cases: [name: string, selector: object, labels: Record<string, string>, selected: boolean][] = [
  ['nothing selects everything', {}, {}, true],
  ['a label that is so', { matchLabels: { site: 'north' } }, north, true],
  ['a label that is otherwise', { matchLabels: { site: 'south' } }, north, false],
  ['a label that is not there', { matchLabels: { site: 'north' } }, {}, false],
  ['all labels must be so', { matchLabels: { site: 'north', tier: 'core' } }, north, false],
  ['In: one of a list', { matchExpressions: [{ key: 'site', operator: 'In', values: ['west', 'north'] }] }, north, true],
  ['In: what is not there is in no list', { matchExpressions: [{ key: 'line', operator: 'In', values: [''] }] }, north, false],
  ['NotIn: another', { matchExpressions: [{ key: 'site', operator: 'NotIn', values: ['west'] }] }, north, true],
  ['NotIn: one of them', { matchExpressions: [{ key: 'site', operator: 'NotIn', values: ['north'] }] }, north, false],
  ['NotIn: what is not there', { matchExpressions: [{ key: 'line', operator: 'NotIn', values: ['1'] }] }, north, true],
  ['Exists', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }, north, true],
  ['Exists, and is not there', { matchExpressions: [{ key: 'line', operator: 'Exists' }] }, north, false],
  ['DoesNotExist', { matchExpressions: [{ key: 'line', operator: 'DoesNotExist' }] }, north, true],
  ['DoesNotExist, and is there', { matchExpressions: [{ key: 'site', operator: 'DoesNotExist' }] }, north, false],
  [
    'labels and expressions together',
    { matchLabels: { site: 'north' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
    north,
    false,
  ],
  ['a name that every object of the language has', { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
]

for (const [name, selector, labels, selected] of cases) {
  void t.test(name, async (t) => t.equal(selects(v.parse(labelSelector, selector), labels), selected))
}
