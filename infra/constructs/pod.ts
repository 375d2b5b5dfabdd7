/**
 * The pod of the controller. Pure.
 */
import type { k8s } from 'cdk8s-plus-28'
import { nodeOptions, ports } from '../../runtime/gatewaysync/names.ts'
import { controllerSettingsVariable } from '../../runtime/settings.ts'
import { tracingVariables } from '../../runtime/tracing/settings.ts'
import { and, asText, either, greater, isSet, or } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { choose, each, given, json, unlessEmpty, when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { openPorts } from '../values/open-ports.ts'
import { imageOf, settingsOf } from './settings.ts'
import { volumeMounts, volumes } from './volumes.ts'
import { asGiven, type Written } from './written.ts'

/** The pod of the controller. */
export function podSpec(names: Names, values: Live<Values>, version: Value<string>): Written<k8s.PodSpec> {
  const { hostNetwork, dnsPolicy } = values
  return {
    serviceAccountName: names.serviceAccount,
    terminationGracePeriodSeconds: values.terminationGracePeriodSeconds,
    hostNetwork: given(hostNetwork, true),
    // Without a policy, a pod in the host's network resolves names as the host does and finds no Service.
    dnsPolicy: given(or(hostNetwork, isSet(dnsPolicy)), either<string>(isSet(dnsPolicy), dnsPolicy, 'ClusterFirstWithHostNet')),
    securityContext: podSecurity(values),
    containers: [container(names, values, version)],
    volumes: volumes(names, values),
    imagePullSecrets: unlessEmpty(values.imagePullSecrets),
    nodeSelector: unlessEmpty(values.nodeSelector),
    tolerations: asGiven(unlessEmpty(values.tolerations)),
    affinity: asGiven(unlessEmpty(values.affinity)),
    topologySpreadConstraints: asGiven(unlessEmpty(values.topologySpreadConstraints)),
    priorityClassName: unlessEmpty(values.priorityClassName),
  }
}

/** A security context that namespaces with the restricted standard admit. One that the values give replaces it as a whole. */
function podSecurity(values: Live<Values>): Written<k8s.PodSecurityContext> {
  const usual: Written<k8s.PodSecurityContext> = {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    // Otherwise the kubelet would change the group of every file of the mirrors at each start.
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
    sysctls: given(hasPrivilegedPort(values), [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }]),
  }
  return choose<Written<k8s.PodSecurityContext>>(isSet(values.podSecurityContext), asGiven(values.podSecurityContext), usual)
}

const containerSecurity: Written<k8s.SecurityContext> = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Whether an open port is below 1024. Some container runtimes let only root listen there. */
function hasPrivilegedPort(values: Live<Values>): Value<boolean> {
  return or(...openPorts(values).map(({ isOpen, port }) => and(isOpen, greater(1024, port))))
}

type Port = Written<k8s.ContainerPort>

function container(names: Names, values: Live<Values>, version: Value<string>): Written<k8s.Container> {
  const { image, resources, webhook, webhookReceiver: receiver, metrics, delivery, statusPage, securityContext } = values
  const port = (name: string, containerPort: Value<number>): Port => ({ name, containerPort, protocol: 'TCP' })
  return {
    name: 'controller',
    image: imageOf(image, version),
    imagePullPolicy: image.pullPolicy,
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      // The other replicas reach the leader at this address.
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
      { name: 'NODE_OPTIONS', value: nodeOptions },
      { name: controllerSettingsVariable, value: json('settings', settingsOf(names, values, version)) },
      ...when<Written<k8s.EnvVar>>(isSet(values.tracing.endpoint), [
        { name: tracingVariables.endpoint, value: values.tracing.endpoint },
        { name: tracingVariables.ratio, value: asText(values.tracing.samplingRatio) },
      ]),
      ...each('variable', values.extraEnv, (variable): Written<k8s.EnvVar> => asGiven(variable)),
    ],
    ports: [
      port('probes', ports.probes),
      port('delivery', delivery.port),
      ...when<Port>(webhook.enabled, [port('admission', webhook.port)]),
      ...when<Port>(receiver.enabled, [port('receiver', receiver.port)]),
      ...when<Port>(metrics.enabled, [port('metrics', metrics.service.port)]),
      ...when<Port>(statusPage.enabled, [port('status-page', statusPage.port)]),
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'probes' }, ...values.livenessProbe },
    readinessProbe: { httpGet: { path: '/readyz', port: 'probes' }, ...values.readinessProbe },
    resources,
    securityContext: choose<Written<k8s.SecurityContext>>(isSet(securityContext), asGiven(securityContext), containerSecurity),
    volumeMounts: volumeMounts(names, values),
  }
}
