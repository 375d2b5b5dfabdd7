/**
 * What runs the controller: a Deployment, or a StatefulSet where each replica keeps its mirrors on a volume of its own. Pure.
 */
import { controllerSettingsVariable } from '../runtime/settings.ts'
import { nodeOptions, ports } from '../runtime/gatewaysync/names.ts'
import { imageOf, settingsOf } from './controller-settings.ts'
import { either, greater, isSet, merged, not, or } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { choose, each, json, members, optional, when } from './helm/nodes.ts'
import { namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'
import { volumeMounts, volumes } from './volumes.ts'

export function controller(names: Names, values: Live<Values>, version: Value<string>): LiveManifest {
  const { labels, selector } = names
  const { persistence } = values.source
  const podAnnotations = merged(values.commonAnnotations, values.podAnnotations)
  return {
    apiVersion: 'apps/v1',
    kind: either(persistence.enabled, 'StatefulSet', 'Deployment'),
    metadata: namespaced(names, names.fullname, { annotations: values.deploymentAnnotations }),
    spec: {
      replicas: values.replicaCount,
      revisionHistoryLimit: values.revisionHistoryLimit,
      selector: { matchLabels: selector },
      ...members(not(persistence.enabled), { strategy: strategy(values) }),
      ...members(persistence.enabled, statefulParts(names, values)),
      template: {
        metadata: {
          // The selector comes last: a pod without its labels would be no part of the Deployment.
          labels: merged(labels, values.podLabels, selector),
          ...members(isSet(podAnnotations), { annotations: podAnnotations }),
        },
        spec: pod(names, values, version),
      },
    },
  }
}

/** What only a StatefulSet has. Nothing of the claim may change later, so it has no labels but those that never do. */
function statefulParts({ deliveryService, selector }: Names, { source: { persistence } }: Live<Values>): object {
  return {
    serviceName: deliveryService,
    // Replicas need not wait for each other: one leads, and all serve.
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: persistence.whenDeleted, whenScaled: 'Delete' },
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'source', labels: selector, ...optional('annotations', persistence.annotations) },
        spec: {
          accessModes: [persistence.accessMode],
          ...optional('storageClassName', persistence.storageClassName),
          resources: { requests: { storage: persistence.size } },
          volumeMode: 'Filesystem',
        },
      },
    ],
  }
}

/** Two replicas at a time would both write: to one claim, or to the cluster. */
function strategy({ source: { storage }, leaderElection, hostNetwork }: Live<Values>): object {
  // The API server's own defaults: written out, they go when the type changes, which a server-side apply refuses otherwise.
  const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }
  // A machine has each port once, so that the new pod of one may have to wait for the old one.
  const replacing = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  const one = or(isSet(storage.existingClaim), not(leaderElection.enabled))
  return choose<object>(one, { type: 'Recreate' }, choose<object>(hostNetwork, replacing, rolling))
}

export function disruptionBudget(names: Names, { podDisruptionBudget: { minAvailable } }: Live<Values>): LiveManifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: namespaced(names, names.fullname),
    // A replica that is not ready keeps nothing running, so that it may go.
    spec: { minAvailable, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels: names.selector } },
  }
}

function pod(names: Names, values: Live<Values>, version: Value<string>): object {
  const { hostNetwork, dnsPolicy } = values
  return {
    serviceAccountName: names.serviceAccount,
    terminationGracePeriodSeconds: values.terminationGracePeriodSeconds,
    ...members(hostNetwork, { hostNetwork: true }),
    // A pod in the host's network that is told nothing resolves names as the host does, and finds no Service.
    ...members(or(hostNetwork, isSet(dnsPolicy)), { dnsPolicy: either(isSet(dnsPolicy), dnsPolicy, 'ClusterFirstWithHostNet') }),
    securityContext: podSecurity(values),
    containers: [container(names, values, version)],
    volumes: volumes(names, values),
    ...optional('imagePullSecrets', values.imagePullSecrets),
    ...optional('nodeSelector', values.nodeSelector),
    ...optional('tolerations', values.tolerations),
    ...optional('affinity', values.affinity),
    ...optional('topologySpreadConstraints', values.topologySpreadConstraints),
    ...optional('priorityClassName', values.priorityClassName),
  }
}

/** What a namespace of the restricted standard admits; what the values give takes its place as a whole. */
function podSecurity(values: Live<Values>): object {
  const usual = {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    // Else the mirrors of a claim would be made writable for the group again at each start, file by file.
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
    ...members(hasPrivilegedPort(values), { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] }),
  }
  return choose<object>(isSet(values.podSecurityContext), values.podSecurityContext, usual)
}

const containerSecurity = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }

/** Whether a port is one that, where the container runtime does not allow it anyway, only root may listen at. */
function hasPrivilegedPort({ webhook, webhookReceiver: receiver, metrics, delivery }: Live<Values>): Value<boolean> {
  return or(...[webhook.port, receiver.port, metrics.service.port, delivery.port].map((port) => greater(1024, port)))
}

function container(names: Names, values: Live<Values>, version: Value<string>): object {
  const { image, resources, webhook, webhookReceiver: receiver, metrics, delivery, securityContext } = values
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
    livenessProbe: { httpGet: { path: '/healthz', port: 'probes' }, ...values.livenessProbe },
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, ...values.readinessProbe },
    resources,
    securityContext: choose<object>(isSet(securityContext), securityContext, containerSecurity),
    volumeMounts: volumeMounts(names, values),
  }
}
