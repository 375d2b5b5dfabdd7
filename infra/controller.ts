/**
 * The controller's Deployment, with the settings that its process reads. Pure.
 */
import {
  type ControllerSettingsInput,
  controllerSettingsVariable,
  defaultShutdownDelaySeconds,
  stopWithinSeconds,
} from '../runtime/settings.ts'
import { nodeOptions, ports } from '../runtime/gatewaysync/names.ts'
import { certificateBy, dnsNames } from './certificates.ts'
import { and, asText, either, equals, greater, isSet, merged, not, or, text } from './helm/combinators.ts'
import type { Live, Made, Value } from './helm/expression.ts'
import { choose, each, json, members, optional, when } from './helm/nodes.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './policies.ts'
import { inlineSecretName } from './receiver.ts'
import type { Values } from './values.ts'

const sourceFolder = '/var/lib/cluster-sync'
const certificateFolder = '/etc/cluster-sync/certificate'
const receiverFolder = '/etc/cluster-sync/receiver'

export function controller(names: Names, values: Live<Values>, version: Value<string>): LiveManifest {
  const { fullname, namespace, labels, selector, serviceAccount } = names
  const pod = {
    serviceAccountName: serviceAccount,
    // Some seconds more than the process takes at most.
    terminationGracePeriodSeconds: defaultShutdownDelaySeconds + stopWithinSeconds + 8,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
      ...members(hasPrivilegedPort(values), { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] }),
    },
    containers: [container(names, values, version)],
    volumes: volumes(names, values),
    ...optional('imagePullSecrets', values.imagePullSecrets),
    ...optional('nodeSelector', values.nodeSelector),
    ...optional('tolerations', values.tolerations),
    ...optional('affinity', values.affinity),
    ...optional('topologySpreadConstraints', values.topologySpreadConstraints),
    ...optional('priorityClassName', values.priorityClassName),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: fullname, namespace, labels },
    spec: {
      replicas: values.replicaCount,
      selector: { matchLabels: selector },
      strategy: strategy(values),
      template: {
        metadata: {
          // The selector comes last: a pod without its labels would be no part of the Deployment.
          labels: merged(labels, values.podLabels, selector),
          ...optional('annotations', values.podAnnotations),
        },
        spec: pod,
      },
    },
  }
}

/** Two replicas at a time would both write: to one claim, or to the cluster. */
function strategy({ source: { storage }, leaderElection }: Live<Values>): object {
  // The API server's own defaults: written out, they go when the type changes, which a server-side apply refuses otherwise.
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
  return choose<object>(or(isSet(storage.existingClaim), not(leaderElection.enabled)), { type: 'Recreate' }, rolling)
}

export function disruptionBudget(
  { fullname, namespace, labels, selector }: Names,
  { podDisruptionBudget: { minAvailable } }: Live<Values>,
): LiveManifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: fullname, namespace, labels },
    // A replica that is not ready keeps nothing running, so that it may go.
    spec: { minAvailable, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: selector } },
  }
}

/** Whether a port is one that, where the container runtime does not allow it anyway, only root may listen at. */
function hasPrivilegedPort({ webhook, webhookReceiver: receiver, metrics, delivery }: Live<Values>): Value<boolean> {
  return or(...[webhook.port, receiver.port, metrics.service.port, delivery.port].map((port) => greater(1024, port)))
}

function imageOf({ repository, tag }: { repository: Value<string>; tag: Value<string> }, version: Value<string>): Value<string> {
  return text`${repository}:${either(isSet(tag), tag, version)}`
}

function container(names: Names, values: Live<Values>, version: Value<string>): object {
  const { image, resources, webhook, webhookReceiver: receiver, metrics, delivery } = values
  const port = (name: string, containerPort: Value<number>): object => ({ name, containerPort, protocol: 'TCP' })
  return {
    name: 'controller',
    image: imageOf(image, version),
    imagePullPolicy: image.pullPolicy,
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      // Where the other replicas find this one while it leads.
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
      { name: 'NODE_OPTIONS', value: nodeOptions },
      { name: controllerSettingsVariable, value: json('settings', settingsOf(names, values, version)) },
      ...each('variable', values.extraEnv, (variable) => variable),
    ],
    ports: [
      port('probes', ports.probes),
      port('delivery', delivery.port),
      ...when(webhook.enabled, [port('admission', webhook.port)]),
      ...when(receiver.enabled, [port('receiver', receiver.port)]),
      ...when(metrics.enabled, [port('metrics', metrics.service.port)]),
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'probes' }, initialDelaySeconds: 15, periodSeconds: 20, timeoutSeconds: 5 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, initialDelaySeconds: 1, periodSeconds: 5, timeoutSeconds: 5 },
    resources,
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'source', mountPath: sourceFolder },
      ...when(not(certificateBy(values).selfManaged), [{ name: 'certificate', mountPath: certificateFolder, readOnly: true }]),
      ...keyFiles(names, values).flatMap(({ name, mounted }) =>
        when(mounted, [{ name: `receiver-${name}`, mountPath: `${receiverFolder}/${name}`, readOnly: true }]),
      ),
      // What one call of git needs: host keys, a socket. In memory, because the root file system cannot be written.
      { name: 'tmp', mountPath: '/tmp' },
    ],
  }
}

/** The settings of this installation, as the process reads them. */
export function settingsOf(names: Names, values: Live<Values>, version: Value<string>): Made<ControllerSettingsInput> {
  const { fullname, namespace, deliveryService, webhookService, metricsService } = names
  const { image, agentImage, agent, webhook, webhookReceiver: receiver, metrics, delivery, source } = values
  const files: Made<Partial<ControllerSettingsInput['receiver']>>[] = keyFiles(names, values).map(({ name, mounted }) =>
    members(mounted, { [`${name}File`]: `${receiverFolder}/${name}/value` }),
  )
  return {
    namespace,
    fullname,
    development: equals(values.controller.logDevMode, 'true'),
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
      allowPrivateAddresses: source.allowPrivateAddresses,
      allowedAddresses: source.allowedAddresses,
      ...members(isSet(source.proxy), { proxy: source.proxy }),
      noProxy: source.noProxy,
    },
    delivery: { url: text`https://${deliveryService}.${namespace}.svc:${asText(delivery.port)}` },
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
    receiver: { enabled: receiver.enabled, ...Object.assign({}, ...files), trustedProxies: receiver.trustedProxies },
    metrics: { enabled: metrics.enabled },
  }
}

type Resources = Record<string, Record<string, string>>

/** As the values say; what they leave out altogether has no empty member in the pod either. */
function agentResources({ agent: { resources } }: Live<Values>): Made<Resources> {
  const { requests, limits } = resources
  const given = { ...optional('requests', requests), ...optional('limits', limits) }
  return choose<Made<Resources>>(or(isSet(requests), isSet(limits)), given, usualAgentResources)
}

/** No CPU limit: a first sync would take seven times as long under 200m (git.md section 5). */
const usualAgentResources = {
  requests: { cpu: '10m', memory: '64Mi' },
  limits: { memory: '256Mi' },
}

function certificateSettings({ certificateSecret }: Names, values: Live<Values>): Made<ControllerSettingsInput['certificates']> {
  const { existing, selfManaged } = certificateBy(values)
  const mounted = { kind: 'mounted' as const, folder: certificateFolder, tellsWebhook: existing }
  return choose<Made<ControllerSettingsInput['certificates']>>(selfManaged, { kind: 'selfManaged', secretName: certificateSecret }, mounted)
}

type KeyFile = { name: 'hmac' | 'token'; mounted: Value<boolean>; secretName: Value<string>; key: Value<string> }

/** The keys of the push receiver, each mounted as one file where the values have it. */
function keyFiles(names: Names, { webhookReceiver: receiver }: Live<Values>): KeyFile[] {
  return (['hmac', 'token'] as const).map((name): KeyFile => {
    const { secret, secretRef } = receiver[name]
    const referred = isSet(secretRef.name)
    return {
      name,
      mounted: and(receiver.enabled, or(referred, isSet(secret))),
      secretName: either(referred, secretRef.name, inlineSecretName(names)),
      key: either<string>(referred, secretRef.key, name),
    }
  })
}

function volumes(names: Names, values: Live<Values>): object[] {
  const { sizeLimit, existingClaim } = values.source.storage
  return [
    {
      name: 'source',
      ...members(not(isSet(existingClaim)), { emptyDir: { sizeLimit } }),
      ...members(isSet(existingClaim), { persistentVolumeClaim: { claimName: existingClaim } }),
    },
    ...when(not(certificateBy(values).selfManaged), [{ name: 'certificate', secret: { secretName: names.certificateSecret } }]),
    ...keyFiles(names, values).flatMap(({ name, mounted, secretName, key }) =>
      when(mounted, [{ name: `receiver-${name}`, secret: { secretName, items: [{ key, path: 'value' }], optional: true } }]),
    ),
    { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
  ]
}
