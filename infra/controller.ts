/**
 * The controller's Deployment, with the settings that its process reads. Pure.
 */
import { type ControllerSettingsInput, controllerSettingsVariable } from '../runtime/settings.ts'
import { ports } from '../runtime/gatewaysync/names.ts'
import { json } from './helm/nodes.ts'
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import { inlineSecretName } from './receiver.ts'
import type { Values } from './values.ts'

const sourceFolder = '/var/lib/cluster-sync'
const certificateFolder = '/etc/cluster-sync/certificate'
const receiverFolder = '/etc/cluster-sync/receiver'

export function controller(names: Names, values: Values, version: string): Manifest {
  const { fullname, namespace, labels, selector, serviceAccount } = names
  const { replicaCount, podAnnotations, podLabels, priorityClassName, imagePullSecrets } = values
  const pod = {
    serviceAccountName: serviceAccount,
    terminationGracePeriodSeconds: 20,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(names, values, version)],
    volumes: volumes(names, values),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
    ...(Object.keys(values.nodeSelector).length === 0 ? {} : { nodeSelector: values.nodeSelector }),
    ...(values.tolerations.length === 0 ? {} : { tolerations: values.tolerations }),
    ...(Object.keys(values.affinity).length === 0 ? {} : { affinity: values.affinity }),
    ...(values.topologySpreadConstraints.length === 0 ? {} : { topologySpreadConstraints: values.topologySpreadConstraints }),
    ...(priorityClassName === '' ? {} : { priorityClassName }),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: fullname, namespace, labels },
    spec: {
      replicas: replicaCount,
      selector: { matchLabels: selector },
      // Two replicas on one claim would both write to it.
      ...(values.source.storage.existingClaim === '' ? {} : { strategy: { type: 'Recreate' } }),
      template: {
        metadata: {
          // The selector comes last: a pod without its labels would be no part of the Deployment.
          labels: { ...labels, ...podLabels, ...selector },
          ...(Object.keys(podAnnotations).length === 0 ? {} : { annotations: podAnnotations }),
        },
        spec: pod,
      },
    },
  }
}

export function disruptionBudget(
  { fullname, namespace, labels, selector }: Names,
  { podDisruptionBudget: { minAvailable } }: Values,
): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: fullname, namespace, labels },
    // A replica that is not ready keeps nothing running, so that it may go.
    spec: { minAvailable, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: selector } },
  }
}

function imageOf({ repository, tag }: { repository: string; tag: string }, version: string): string {
  return `${repository}:${tag === '' ? version : tag}`
}

function container(names: Names, values: Values, version: string): object {
  const { image, resources, webhook, webhookReceiver: receiver, metrics, delivery } = values
  const port = (name: string, containerPort: number): object => ({ name, containerPort, protocol: 'TCP' })
  return {
    name: 'controller',
    image: imageOf(image, version),
    imagePullPolicy: image.pullPolicy,
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: controllerSettingsVariable, value: json('settings', settingsOf(names, values, version)) },
      ...values.extraEnv,
    ],
    ports: [
      port('probes', ports.probes),
      port('delivery', delivery.port),
      ...(webhook.enabled ? [port('admission', webhook.port)] : []),
      ...(receiver.enabled ? [port('receiver', receiver.port)] : []),
      ...(metrics.enabled ? [port('metrics', metrics.service.port)] : []),
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'probes' }, initialDelaySeconds: 15, periodSeconds: 20, timeoutSeconds: 5 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, initialDelaySeconds: 1, periodSeconds: 5, timeoutSeconds: 5 },
    resources,
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'source', mountPath: sourceFolder },
      ...(certificateKind(values) !== 'selfManaged' ? [{ name: 'certificate', mountPath: certificateFolder, readOnly: true }] : []),
      ...keyFiles(names, values).map(({ name }) => ({ name: `receiver-${name}`, mountPath: `${receiverFolder}/${name}`, readOnly: true })),
    ],
  }
}

/** The settings of this installation, as the process reads them. */
export function settingsOf(names: Names, values: Values, version: string): ControllerSettingsInput {
  const { fullname, namespace, serviceAccount, deliveryService, webhookService, metricsService } = names
  const { image, agentImage, agent, webhook, webhookReceiver: receiver, metrics, delivery, source } = values
  const files = Object.fromEntries(keyFiles(names, values).map(({ name }) => [`${name}File`, `${receiverFolder}/${name}/value`]))
  return {
    namespace,
    fullname,
    serviceAccount,
    development: values.controller.logDevMode === 'true',
    leaderElection: values.leaderElection.enabled,
    watchNamespaces: values.watchNamespaces,
    ports: {
      receiver: receiver.port,
      admission: webhook.port,
      metrics: metrics.service.port,
      probes: ports.probes,
      delivery: delivery.port,
    },
    source: {
      folder: `${sourceFolder}/mirrors`,
      sizeLimit: source.storage.sizeLimit,
      allowedHosts: source.allowedHosts,
    },
    delivery: { url: `https://${deliveryService}.${namespace}.svc:${delivery.port}` },
    certificates: certificateSettings(names, values),
    dnsNames: dnsNames([webhookService, deliveryService, metricsService], namespace),
    injection: { enabled: webhook.enabled, webhookConfiguration: fullname },
    agent: {
      image: imageOf(agentImage, version),
      imagePullPolicy: image.pullPolicy,
      imagePullSecrets: values.imagePullSecrets,
      resources: agentResources(values),
      allowImageOverride: agent.allowImageOverride,
      clusterRole: names.agentRole,
      autoBind: values.rbac.autoBindAgent.enabled,
    },
    receiver: { enabled: receiver.enabled, ...files, trustedProxies: receiver.trustedProxies },
    metrics: { enabled: metrics.enabled },
  }
}

/** As the values say; what they leave out altogether has no empty member in the pod either. */
function agentResources({ agent: { resources } }: Values): Record<string, Record<string, string>> {
  const given = Object.entries(resources).filter(([, quantities]) => Object.keys(quantities).length > 0)
  return given.length === 0 ? usualAgentResources : Object.fromEntries(given)
}

/** No CPU limit: a first sync would take seven times as long under 200m (git.md section 5). */
const usualAgentResources: Record<string, Record<string, string>> = {
  requests: { cpu: '10m', memory: '64Mi' },
  limits: { memory: '256Mi' },
}

/** Who makes the certificate of every secure port; a Secret that the values name wins. */
export type CertificateKind = 'existing' | 'certManager' | 'selfManaged'

export function certificateKind({ webhook: { existingSecret }, certManager }: Values): CertificateKind {
  if (existingSecret !== '') return 'existing'
  return certManager.enabled ? 'certManager' : 'selfManaged'
}

function certificateSettings({ certificateSecret }: Names, values: Values): ControllerSettingsInput['certificates'] {
  const kind = certificateKind(values)
  if (kind === 'selfManaged') return { kind, secretName: certificateSecret }
  return { kind: 'mounted', folder: certificateFolder, tellsWebhook: kind === 'existing' }
}

/** Names by which Services are reached, from inside and outside of the namespace. */
export function dnsNames(services: readonly string[], namespace: string): string[] {
  return services.flatMap((service) => [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`])
}

type KeyFile = { name: 'hmac' | 'token'; secretName: string; key: string }

/** The keys of the push receiver that are mounted, each as one file. */
function keyFiles(names: Names, { webhookReceiver: receiver }: Values): KeyFile[] {
  if (!receiver.enabled) return []
  return (['hmac', 'token'] as const).flatMap((name): KeyFile[] => {
    const { secret, secretRef } = receiver[name]
    if (secretRef.name !== '') return [{ name, secretName: secretRef.name, key: secretRef.key }]
    return secret === '' ? [] : [{ name, secretName: inlineSecretName(names), key: name }]
  })
}

function volumes(names: Names, values: Values): object[] {
  const { sizeLimit, existingClaim } = values.source.storage
  return [
    { name: 'source', ...(existingClaim === '' ? { emptyDir: { sizeLimit } } : { persistentVolumeClaim: { claimName: existingClaim } }) },
    ...(certificateKind(values) !== 'selfManaged' ? [{ name: 'certificate', secret: { secretName: names.certificateSecret } }] : []),
    ...keyFiles(names, values).map(({ name, secretName, key }) => ({
      name: `receiver-${name}`,
      secret: { secretName, items: [{ key, path: 'value' }], optional: true },
    })),
  ]
}
