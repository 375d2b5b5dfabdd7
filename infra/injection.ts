/**
 * When the API server asks about a pod: only when the pod asked for an agent. Pure.
 */
import { injectionNamespaceLabel, podAnnotations } from '../runtime/gatewaysync/names.ts'
import { certificateBy } from './certificates.ts'
import { either, isSet, merged, text } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { each, optional, when } from './helm/nodes.ts'
import { clusterWide } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import { namespacesNamed, selectorOf } from './policies.ts'
import type { Values } from './values.ts'

/** Never asked about, so that a controller that is down holds up no part of the cluster itself. */
const excludedNamespaces = ['kube-system', 'kube-node-lease']

export function injection(names: Names, values: Live<Values>): LiveManifest {
  const { fullname, namespace, webhookService, certificateSecret } = names
  const { webhook, watchNamespaces, controller } = values
  const { key, value } = injectionNamespaceLabel
  const { requireLabel, ...chosen } = webhook.namespaceSelector
  const matchLabels = merged<string>(chosen.matchLabels, either<Record<string, string>>(requireLabel, { [key]: value }, {}))
  const matchExpressions = [
    namespacesNamed('NotIn', [...excludedNamespaces, namespace]),
    ...when(isSet(watchNamespaces), [namespacesNamed('In', watchNamespaces)]),
    ...each('expression', chosen.matchExpressions, (expression) => expression),
  ]
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: clusterWide(names, fullname, {
      annotations: either<Record<string, Value<string>>>(
        certificateBy(values).certManager,
        { 'cert-manager.io/inject-ca-from': text`${namespace}/${certificateSecret}` },
        {},
      ),
    }),
    webhooks: [
      {
        name: 'inject.clustersync.io',
        clientConfig: { service: { name: webhookService, namespace, path: '/mutate', port: 443 } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
        namespaceSelector: {
          ...optional('matchLabels', matchLabels),
          matchExpressions,
        },
        // Pods of another installation are not asked about, so that neither can hold up the other.
        objectSelector: selectorOf(controller.watchLabelSelector),
        // A plain comparison would refuse every pod without the annotation.
        matchConditions: [{ name: 'asked', expression: `object.metadata.?annotations[?'${podAnnotations.inject}'].orValue('') == 'true'` }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: webhook.failurePolicy,
        reinvocationPolicy: 'Never',
        timeoutSeconds: webhook.timeoutSeconds,
      },
    ],
  }
}
