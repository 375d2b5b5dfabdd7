/**
 * When the API server asks about a pod.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { everything, fullname, objectsOf, one, settingsOf } from '../installed.ts'

function webhookOf(values: ValuesInput) {
  return one(objectsOf(values), 'MutatingWebhookConfiguration').webhooks[0]
}

void t.test("admission is asked of pods that want an agent, never in the cluster's own namespaces", async (t) => {
  const never = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kube-node-lease'] }
  t.same(webhookOf({}).namespaceSelector, { matchExpressions: [never] })
  t.same(webhookOf(everything).namespaceSelector, {
    matchLabels: { 'clustersync.io/injection': 'enabled' },
    matchExpressions: [never, { key: 'tier', operator: 'In', values: ['plant'] }],
  })
  t.same(webhookOf({ watchNamespaces: ['a', 'b'] }).namespaceSelector, {
    matchExpressions: [never, { ...never, operator: 'In', values: ['a', 'b'] }],
  })
  t.match(webhookOf({}).matchConditions[0].expression, podAnnotations.inject)
})

void t.test(
  'an installation for some labels is asked about pods with these, and lets others write the status of other GatewaySyncs',
  async (t) => {
    const selector = { matchLabels: { shard: 'north' }, matchExpressions: [{ key: 'trial', operator: 'DoesNotExist' }] }
    const objects = objectsOf(everything)
    t.same(settingsOf(objects).watchLabelSelector, selector)
    t.same(one(objects, 'MutatingWebhookConfiguration').webhooks[0].objectSelector, selector)
    const constraints = objects
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map(({ metadata, spec }) => [
        metadata.name,
        (spec as { matchConstraints: { objectSelector: object } }).matchConstraints.objectSelector,
      ])
    t.same(constraints, [
      [`${fullname}-report`, {}],
      [`${fullname}-status`, selector],
      [`${fullname}-spec`, {}],
      [`${fullname}-stages`, {}],
    ])
    t.match(one(objects, 'PodMonitor').spec, {
      selector: { ...selector, matchLabels: { shard: 'north', 'clustersync.io/agent': 'true' } },
    })
    t.same(one(objectsOf({}), 'MutatingWebhookConfiguration').webhooks[0].objectSelector, {})
  },
)
