/**
 * The values of an installation: every key with its type, default and meaning. The
 * single source of the TypeScript type, the validation and the documentation. Pure.
 */
import * as v from 'valibot'
import defaultImages from './default-images.json' with { type: 'json' }
import { gitHosts, networks, proxyUrl, repository, tag } from './values/address-fields.ts'
import {
  annotations,
  anything,
  environment,
  flag,
  items,
  labels,
  namePart,
  namespace,
  objectName,
  optionalObjectName,
  peers,
  port,
  portList,
  quantities,
  quantity,
  references,
  selectorValues,
} from './values/fields.ts'
import { monitoringValues } from './values/monitoring.ts'
import { notificationValues } from './values/notifications.ts'
import { receiverValues } from './values/receiver.ts'
import { statusPageValues } from './values/status-page.ts'
import { containerSecurity, serviceValues, workloadValues } from './values/workload.ts'
import { logLevels } from '../runtime/platform/log/level.ts'

const logLevel = (what: string) => v.optional(v.pipe(v.picklist(logLevels), v.description(`Minimum log level of ${what}.`)), 'info')

const pullPolicy = v.picklist(['Always', 'IfNotPresent', 'Never'])

/** scripts/release replaces the defaults with the images that a release publishes. */
const image = (program: keyof typeof defaultImages) => ({
  repository: repository(`Image of the ${program}.`, defaultImages[program].repository),
  tag: tag(
    'Tag of the image, optionally with a digest (1.2.3@sha256:…). Defaults to the version of the operator.',
    defaultImages[program].tag,
  ),
})

/**
 * The keys of `values`, with meaning and default: the source of docs/reference/values.md, of the chart's values.yaml and of its JSON
 * schema.
 */
export const valuesSchema = v.strictObject({
  replicaCount: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.description('Number of controller replicas. One is the leader; a standby takes over if it fails.'),
    ),
    1,
  ),
  image: v.optional(
    v.strictObject({
      ...image('controller'),
      pullPolicy: v.optional(v.pipe(pullPolicy, v.description('Image pull policy of the controller and of agents.')), 'IfNotPresent'),
    }),
    {},
  ),
  imagePullSecrets: references(
    'Secrets with credentials for private registries: entries {name}. Agents need a Secret of the same name in each gateway namespace.',
  ),
  nameOverride: namePart('Overrides the chart name in resource names.'),
  fullnameOverride: namePart('Overrides the full name (the prefix of most object names).'),
  agentImage: v.optional(v.strictObject(image('agent')), {}),
  leaderElection: v.optional(
    v.strictObject({ enabled: flag('Enables leader election. Disable it only for development with one replica.', true) }),
    {},
  ),
  resources: v.optional(
    v.strictObject({
      requests: quantities('request', 'Requests of the controller by resource; null removes a default.', { cpu: '10m', memory: '64Mi' }),
      limits: quantities('limit', 'Limits of the controller by resource; null removes a default.', { cpu: '500m', memory: '128Mi' }),
    }),
    {},
  ),
  nodeSelector: labels('Node selector of the controller pod.'),
  tolerations: items('Tolerations of the controller pod.'),
  podAnnotations: annotations('Extra annotations of the controller pod.'),
  podLabels: labels('Extra labels of the controller pod. They cannot replace the labels of its selector.'),
  commonLabels: labels(
    'Labels of all objects except the CRDs. They are not used in selectors and do not replace the labels of the operator.',
  ),
  commonAnnotations: annotations('Annotations of all objects except the CRDs. Annotations of a single object take precedence.'),
  ...workloadValues,
  affinity: anything('Affinity of the controller pod.'),
  controller: v.optional(
    v.strictObject({
      logDevMode: v.optional(
        v.pipe(
          v.picklist(['true', 'false'], 'must be the string "true" or "false"'),
          v.description('"true" logs all levels in a human-readable format instead of JSON.'),
        ),
        'false',
      ),
      logLevel: logLevel('the controller'),
      watchLabelSelector: v.optional(
        v.strictObject(selectorValues('the GatewaySyncs and gateway pods that this installation manages')),
        {},
      ),
    }),
    {},
  ),
  certManager: v.optional(
    v.strictObject({ enabled: flag('Requests certificates from cert-manager. Otherwise the controller issues its own.', true) }),
    {},
  ),
  ...monitoringValues,
  notifications: notificationValues,
  networkPolicy: v.optional(
    v.strictObject({
      enabled: flag('Creates a NetworkPolicy that restricts ingress to the ports of the controller.', false),
      metrics: peers(
        'metrics',
        'pods without an agent in the namespace of the release, and pods that have, or whose namespace has, the label clustersync.io/metrics-reader=true',
      ),
      delivery: peers('the content server', 'pods with an agent'),
      webhookReceiver: peers('the webhook receiver', 'all'),
      statusPage: peers('the status page', 'pods without an agent in the namespace of the release'),
      egress: v.optional(
        v.strictObject({
          enabled: flag('Also restricts egress. Only DNS and the ports in networkPolicy.egress.ports are allowed.', false),
          ports: portList('Allowed TCP ports: those of the API server and the git hosts.', [443, 6443, 22]),
          dnsPort: port('Port of the DNS pods; 5353 on OpenShift.', 53),
        }),
        {},
      ),
    }),
    {},
  ),
  webhook: v.optional(
    v.strictObject({
      enabled: flag('Creates the admission webhook that injects agents.', true),
      port: port('Port of the admission server.', 9443),
      namespaceSelector: v.optional(
        v.strictObject({
          requireLabel: flag(
            'Injects agents only in namespaces with the label clustersync.io/injection=enabled. If false, it injects them in all namespaces except kube-system and kube-node-lease.',
            false,
          ),
          ...selectorValues('the namespaces in which agents are injected'),
        }),
        {},
      ),
      failurePolicy: v.optional(
        v.pipe(
          v.picklist(['Fail', 'Ignore']),
          v.description('Fail rejects pods that request an agent while the webhook is unavailable; Ignore starts them without one.'),
        ),
        'Fail',
      ),
      timeoutSeconds: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30), v.description('Timeout of webhook calls, in seconds.')),
        5,
      ),
      existingSecret: optionalObjectName('Secret with tls.crt, tls.key and ca.crt for all TLS ports, instead of a generated certificate.'),
      service: v.optional(v.strictObject(serviceValues('admission')), {}),
    }),
    {},
  ),
  rbac: v.optional(
    v.strictObject({
      autoBindAgent: v.optional(
        v.strictObject({ enabled: flag('Binds the ServiceAccounts of gateway pods to the role of the agents.', true) }),
        {},
      ),
      secrets: v.optional(
        v.strictObject({
          enabled: flag('Permits the controller to read the Secrets that GatewaySyncs reference. Public repositories need none.', true),
          namespaces: v.optional(
            v.pipe(
              v.array(namespace),
              v.description('Namespaces in which the controller may read Secrets. Defaults to those of watchNamespaces.'),
            ),
            [],
          ),
          names: v.optional(
            v.pipe(v.array(objectName), v.description('Names of the Secrets that the controller may read. Defaults to all.')),
            [],
          ),
        }),
        {},
      ),
    }),
    {},
  ),
  webhookReceiver: receiverValues,
  statusPage: statusPageValues,
  delivery: v.optional(
    v.strictObject({
      port: port('Port of the content server, from which agents fetch content.', 9445),
      service: v.optional(v.strictObject(serviceValues('delivery')), {}),
    }),
    {},
  ),
  source: v.optional(
    v.strictObject({
      storage: v.optional(
        v.strictObject({
          sizeLimit: quantity('Size of the volume for git mirrors; at least 64Mi.', '2Gi'),
          existingClaim: optionalObjectName('Existing PersistentVolumeClaim to use instead of an emptyDir, with one replica only.'),
        }),
        {},
      ),
      persistence: v.optional(
        v.strictObject({
          enabled: flag(
            'Keeps git mirrors on a PersistentVolumeClaim per replica of a StatefulSet. Published commits can then be delivered after a restart even if the git host is unreachable.',
            false,
          ),
          size: quantity('Size of each claim; at least source.storage.sizeLimit. It cannot be changed later.', '3Gi'),
          storageClassName: optionalObjectName('Storage class of the claims. Defaults to the default class of the cluster.'),
          accessMode: v.optional(
            v.pipe(v.picklist(['ReadWriteOnce', 'ReadWriteOncePod']), v.description('Access mode of the claims.')),
            'ReadWriteOnce',
          ),
          annotations: annotations('Annotations of the claims.'),
          whenDeleted: v.optional(
            v.pipe(v.picklist(['Delete', 'Retain']), v.description('What happens to the claims when the StatefulSet is deleted.')),
            'Delete',
          ),
        }),
        {},
      ),
      allowedHosts: gitHosts('Permitted git hosts. Defaults to all.'),
      allowPrivateAddresses: flag('Permits git hosts with private addresses, as in most plants.', true),
      allowedAddresses: networks(
        'Additional permitted addresses and networks of git hosts. By default, loopback addresses, link-local addresses and the API server are refused.',
      ),
      proxy: proxyUrl(
        'Proxy for git hosts, such as http://proxy.example.com:3128. For a proxy that requires a password, use spec.git.proxy.',
      ),
      noProxy: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(4096),
          v.description('Hosts, domains and networks that are reached without the proxy, separated by commas.'),
        ),
        '',
      ),
    }),
    {},
  ),
  watchNamespaces: v.optional(v.pipe(v.array(namespace), v.description('Namespaces to manage, which must exist. Defaults to all.')), []),
  agent: v.optional(
    v.strictObject({
      resources: v.optional(
        v.strictObject({
          requests: quantities('request', 'Resource requests of agents. Defaults to 10m of CPU and 64Mi of memory if no limits are set.'),
          limits: quantities('limit', 'Resource limits of agents. Defaults to 256Mi of memory if no requests are set.'),
        }),
        {},
      ),
      guaranteed: v.optional(
        v.strictObject({
          enabled: flag(
            'Gives the agent equal requests and limits in pods of the QoS class Guaranteed, so that they keep this class.',
            true,
          ),
          cpu: quantity('CPU request and limit of the agent in such pods.', '500m'),
          memory: quantity('Memory request and limit of the agent in such pods.', '256Mi'),
        }),
        {},
      ),
      securityContext: containerSecurity(
        'Security context of agents. If set, it replaces the whole built-in one; user, group and SELinux options are taken from the gateway container.',
      ),
      logLevel: logLevel('agents'),
      allowImageOverride: flag('Permits GatewaySyncs to select another agent image.', false),
    }),
    {},
  ),
  priorityClassName: optionalObjectName('Priority class of the controller pod.'),
  topologySpreadConstraints: items('Topology spread constraints of the controller pod.'),
  podDisruptionBudget: v.optional(
    v.strictObject({
      enabled: flag('Creates a PodDisruptionBudget when there is more than one replica.', true),
      minAvailable: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Minimum number of available replicas; less than replicaCount.')),
        1,
      ),
    }),
    {},
  ),
  extraEnv: environment('Extra environment variables of the controller: entries {name, value} or {name, valueFrom}.'),
  crds: v.optional(
    v.strictObject({
      install: flag(
        'Includes the CRDs in the manifests that npx cdk8s synth writes in this repository. Helm always installs them unless --skip-crds is set; cdk8s apps use CrdChart.',
        true,
      ),
    }),
    {},
  ),
})

/** Values as a user writes them, and with every default. */
export type ValuesInput = v.InferInput<typeof valuesSchema>
export type Values = v.InferOutput<typeof valuesSchema>
