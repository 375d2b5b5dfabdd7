/**
 * The webhook configuration: the pods for which the API server calls admission.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { podAnnotations } from '../../../runtime/api/names.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { everything, fullname, objectsOf, one, settingsOf } from '../installed.ts'

function webhookOf(values: ValuesInput) {
  return one(objectsOf(values), 'MutatingWebhookConfiguration').webhooks[0]
}

void t.test('admission is called for pods that request an agent, never in system namespaces', async (t) => {
  const never = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kube-node-lease'] }
  t.strictSame(webhookOf({}).namespaceSelector, { matchExpressions: [never] })
  t.strictSame(webhookOf(everything).namespaceSelector, {
    matchLabels: { 'clustersync.io/injection': 'enabled' },
    matchExpressions: [{ key: 'tier', operator: 'In', values: ['plant'] }],
  })
  t.strictSame(webhookOf({ watchNamespaces: ['a', 'b'] }).namespaceSelector, {
    matchExpressions: [never, { ...never, operator: 'In', values: ['a', 'b'] }],
  })
  containsText(t, webhookOf({}).matchConditions[0].expression, podAnnotations.inject)
})

void t.test('an installation with a label selector covers only matching pods and GatewaySyncs', async (t) => {
  const selector = { matchLabels: { shard: 'north' }, matchExpressions: [{ key: 'trial', operator: 'DoesNotExist' }] }
  const objects = objectsOf(everything)
  t.strictSame(settingsOf(objects).watchLabelSelector, selector)
  t.strictSame(one(objects, 'MutatingWebhookConfiguration').webhooks[0].objectSelector, selector)
  const constraints = objects
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map(({ metadata, spec }) => [
      metadata.name,
      (spec as { matchConstraints: { objectSelector: object } }).matchConstraints.objectSelector,
    ])
  t.strictSame(constraints, [
    [`${fullname}-report`, {}],
    [`${fullname}-status`, selector],
    [`${fullname}-spec`, {}],
    [`${fullname}-stages`, {}],
    [`${fullname}-own`, {}],
  ])
  matchObject(t, one(objects, 'PodMonitor').spec, {
    selector: { ...selector, matchLabels: { shard: 'north', 'clustersync.io/agent': 'true' } },
  })
  t.strictSame(one(objectsOf({}), 'MutatingWebhookConfiguration').webhooks[0].objectSelector, {})
})
