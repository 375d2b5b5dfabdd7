/**
 * Registers the webhook that the API server calls for new pods that request an agent.
 */
import { k8s } from 'cdk8s-plus-28'
import type * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { injectionNamespaceLabel, podAnnotations } from '../../runtime/api/names.ts'
import type { SharedProps } from './shared-props.ts'
import { clusterMetadata } from '../names.ts'
import type { Values } from '../values.ts'
import { certificateSource } from './certificates.ts'
import { createService } from './service.ts'

/** Excluded unless `requireLabel` is true, so that an unavailable controller cannot block the cluster itself. */
const excludedNamespaces = ['kube-system', 'kube-node-lease']

/** The injection webhook, configured by the values of `webhook`. Creates nothing if `webhook.enabled` is false. */
export class Admission extends Construct {
  readonly service: kplus.Service | undefined
  readonly webhookConfiguration: k8s.KubeMutatingWebhookConfiguration | undefined

  constructor(scope: Construct, id: string, { names, values }: SharedProps) {
    super(scope, id)
    const { webhook, controller } = values
    if (!webhook.enabled) return
    this.service = createService(this, names, {
      name: names.webhookService,
      // The API server's default port for webhooks.
      port: { name: 'https', port: 443, targetPort: 'admission' },
      component: 'admission',
      values: webhook.service,
    })
    // cdk8s-plus has no construct for webhook configurations.
    this.webhookConfiguration = new k8s.KubeMutatingWebhookConfiguration(this, 'WebhookConfiguration', {
      metadata: clusterMetadata(names, names.fullname, {
        annotations:
          certificateSource(values) === 'cert-manager'
            ? { 'cert-manager.io/inject-ca-from': `${names.namespace}/${names.certificateSecret}` }
            : {},
      }),
      webhooks: [
        {
          name: 'inject.clustersync.io',
          clientConfig: { service: { name: this.service.name, namespace: names.namespace, path: '/mutate', port: 443 } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
          namespaceSelector: namespaceSelector(values),
          // Pods of another installation are not sent here, so that neither installation can block the other.
          objectSelector: labelSelector(controller.watchLabelSelector),
          // A comparison without `?` would fail for pods without the annotation, and so refuse them.
          matchConditions: [
            { name: 'requests-agent', expression: `object.metadata.?annotations[?'${podAnnotations.inject}'].orValue('') == 'true'` },
          ],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: webhook.failurePolicy,
          reinvocationPolicy: 'Never',
          timeoutSeconds: webhook.timeoutSeconds,
        },
      ],
    })
  }
}

function namespaceSelector({ webhook, watchNamespaces }: Values): k8s.LabelSelector {
  const { requireLabel, matchLabels, matchExpressions } = webhook.namespaceSelector
  const { key, value } = injectionNamespaceLabel
  return labelSelector({
    matchLabels: { ...matchLabels, ...(requireLabel && { [key]: value }) },
    matchExpressions: [
      ...(requireLabel ? [] : [namespaceIs('NotIn', excludedNamespaces)]),
      ...(watchNamespaces.length > 0 ? [namespaceIs('In', watchNamespaces)] : []),
      ...matchExpressions,
    ],
  })
}

/** Matches namespaces by name. */
export function namespaceIs(operator: 'In' | 'NotIn', values: string[]) {
  return { key: 'kubernetes.io/metadata.name', operator, values }
}

/** A label selector without empty fields. */
export function labelSelector({ matchLabels, matchExpressions }: Values['controller']['watchLabelSelector']): k8s.LabelSelector {
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  }
}
