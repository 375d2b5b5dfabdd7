/**
 * How the API server asks the controller about new pods that want an agent, and about no others.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { injectionNamespaceLabel, podAnnotations } from '../../runtime/gatewaysync/names.ts'
import { either, isSet, merged, text } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { each, unlessEmpty, when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObjectWhen, type ManifestOf } from './api-object.ts'
import { certificateBy } from './certificates.ts'
import type { Installation } from './installation.ts'
import { clusterWide } from './metadata.ts'
import { namespacesNamed, type Selector, selectorOf } from './selectors.ts'
import { serviceOf } from './service.ts'
import { asGiven, type Written } from './written.ts'

/** What makes the API server ask for an agent; no object while `webhook.enabled` is false. */
export class Admission extends Construct {
  readonly service: ApiObject | undefined
  readonly webhookConfiguration: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { enabled, service } = values.webhook
    // The API server calls webhooks at 443 unless told otherwise.
    const https = serviceOf(names, names.webhookService, service, { name: 'https', port: 443, targetPort: 'admission' }, 'admission')
    this.service = apiObjectWhen(enabled, this, 'service', k8s.KubeService, https)
    const kind = k8s.KubeMutatingWebhookConfiguration
    this.webhookConfiguration = apiObjectWhen(enabled, this, 'webhook-configuration', kind, webhookConfiguration(names, values))
  }
}

/** Pods of these namespaces are never asked about, so that a controller that is down cannot hold up the cluster itself. */
const excludedNamespaces = ['kube-system', 'kube-node-lease']

function webhookConfiguration(names: Names, values: Live<Values>): ManifestOf<typeof k8s.KubeMutatingWebhookConfiguration> {
  const { fullname, namespace, webhookService, certificateSecret } = names
  const { webhook, controller } = values
  return {
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
        namespaceSelector: namespaceSelector(values),
        // Pods of another installation are not asked about, so that neither can hold up the other.
        objectSelector: selectorOf(controller.watchLabelSelector),
        // A comparison without `?` would fail for pods without the annotation, and so refuse them.
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

function namespaceSelector({ webhook, watchNamespaces }: Live<Values>): Selector {
  const { requireLabel, matchLabels, matchExpressions } = webhook.namespaceSelector
  const { key, value } = injectionNamespaceLabel
  return {
    matchLabels: unlessEmpty(merged<string>(matchLabels, either<Record<string, string>>(requireLabel, { [key]: value }, {}))),
    matchExpressions: [
      namespacesNamed('NotIn', excludedNamespaces),
      ...when<Written<k8s.LabelSelectorRequirement>>(isSet(watchNamespaces), [namespacesNamed('In', watchNamespaces)]),
      ...each('expression', matchExpressions, (expression): Written<k8s.LabelSelectorRequirement> => asGiven(expression)),
    ],
  }
}
