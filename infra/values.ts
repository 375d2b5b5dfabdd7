/**
 * What an installation can be told: every key of the specification's section 2.1 with its type, default and meaning, and our own
 * additions. The one source of the TypeScript type, the validation and the documentation. Pure.
 */
import * as v from 'valibot'
import { logLevels } from '../runtime/log-level.ts'
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

const logLevel = (what: string) =>
  v.optional(v.pipe(v.picklist(logLevels), v.description(`Log lines of ${what} below this level are left out.`)), 'info')

const pullPolicy = v.picklist(['Always', 'IfNotPresent', 'Never'])

const image = (usual: string, what: string) => ({
  repository: repository(`Image of the ${what}.`, usual),
  tag: tag('Empty: the version of this package.'),
})
/** The images of the values by themselves; a release names the registry that it pushes them to instead. */
export const defaultRepositories = { controller: 'clustersync/controller', agent: 'clustersync/agent' }

/** What `values` may hold, with meaning and default: the source of docs/values.md, of the chart's values.yaml and of its JSON schema. */
export const valuesSchema = v.strictObject({
  replicaCount: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Controller replicas; one leads, others take over fast.')),
    1,
  ),
  image: v.optional(
    v.strictObject({
      ...image(defaultRepositories.controller, 'controller'),
      pullPolicy: v.optional(v.pipe(pullPolicy, v.description('Image pull policy.')), 'IfNotPresent'),
    }),
    {},
  ),
  imagePullSecrets: references('Credentials for private registries.'),
  nameOverride: namePart('Overrides the chart name in resource names.'),
  fullnameOverride: namePart('Overrides the full release name.'),
  agentImage: v.optional(v.strictObject(image(defaultRepositories.agent, 'agent')), {}),
  leaderElection: v.optional(v.strictObject({ enabled: flag('Disable only for single-replica development.', true) }), {}),
  resources: v.optional(
    v.strictObject({
      requests: v.optional(v.strictObject({ cpu: quantity('CPU request.', '10m'), memory: quantity('Memory request.', '64Mi') }), {}),
      limits: v.optional(v.strictObject({ cpu: quantity('CPU limit.', '500m'), memory: quantity('Memory limit.', '128Mi') }), {}),
    }),
    {},
  ),
  nodeSelector: labels('Node selector of the controller pod.'),
  tolerations: items('Tolerations of the controller pod.'),
  podAnnotations: annotations('Extra annotations of the controller pod.'),
  podLabels: labels('Extra labels of the controller pod; those that select it stay.'),
  commonLabels: labels('Labels of every object but the definitions; never a part of a selector. Our own labels stay.'),
  commonAnnotations: annotations('Annotations of every object but the definitions; those of a single object win.'),
  ...workloadValues,
  affinity: anything('Affinity of the controller pod.'),
  controller: v.optional(
    v.strictObject({
      logDevMode: v.optional(
        v.pipe(
          v.picklist(['true', 'false'], 'must be the string "true" or "false"'),
          v.description('"true": log lines for a console instead of JSON, of every level.'),
        ),
        'false',
      ),
      logLevel: logLevel('the controller'),
      watchLabelSelector: v.optional(
        v.strictObject(selectorValues('the GatewaySyncs and gateway pods that this installation takes care of')),
        {},
      ),
    }),
    {},
  ),
  certManager: v.optional(v.strictObject({ enabled: flag('Certificates by cert-manager; else the controller issues its own.', true) }), {}),
  ...monitoringValues,
  notifications: notificationValues,
  networkPolicy: v.optional(
    v.strictObject({
      enabled: flag('Restricts who may reach the controller: each port only those who need it.', false),
      metrics: peers(
        'metrics',
        "pods without an agent of the release's namespace, and those of any namespace with the label clustersync.io/metrics-reader=true",
      ),
      delivery: peers('delivery', 'pods with an agent'),
      receiver: peers('the push receiver', 'anybody'),
      statusPage: peers('the status page', "pods without an agent of the release's namespace"),
      egress: v.optional(
        v.strictObject({
          enabled: flag('Restricts egress too, to DNS and the ports below.', false),
          ports: portList('TCP ports that may be reached: those of the API server and of git hosts.', [443, 6443, 22]),
          dnsPort: port('Port of the DNS pods; 5353 on OpenShift.', 53),
        }),
        {},
      ),
    }),
    {},
  ),
  webhook: v.optional(
    v.strictObject({
      enabled: flag('Injects agents.', true),
      port: port('Port of the admission server.', 9443),
      namespaceSelector: v.optional(
        v.strictObject({
          requireLabel: flag('Only namespaces labelled clustersync.io/injection=enabled.', false),
          ...selectorValues('namespaces whose pods may get an agent'),
        }),
        {},
      ),
      failurePolicy: v.optional(
        v.pipe(v.picklist(['Fail', 'Ignore']), v.description('Fail: a pod that asked waits for its agent.')),
        'Fail',
      ),
      timeoutSeconds: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30), v.description('How long the API server waits.')),
        5,
      ),
      existingSecret: optionalObjectName('A Secret with tls.crt, tls.key and ca.crt to serve with, instead of a certificate made here.'),
      service: v.optional(v.strictObject(serviceValues('admission')), {}),
    }),
    {},
  ),
  rbac: v.optional(
    v.strictObject({
      autoBindAgent: v.optional(v.strictObject({ enabled: flag("Binds gateway pods' ServiceAccounts to the agents' role.", true) }), {}),
      secrets: v.optional(
        v.strictObject({
          enabled: flag('Lets the controller read Secrets that GatewaySyncs name; none is needed for public repositories alone.', true),
          namespaces: v.optional(
            v.pipe(v.array(namespace), v.description('Namespaces whose Secrets it may read; empty: those that it works in.')),
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
      port: port('Port at which agents fetch content.', 9445),
      service: v.optional(v.strictObject(serviceValues('delivery')), {}),
    }),
    {},
  ),
  source: v.optional(
    v.strictObject({
      storage: v.optional(
        v.strictObject({
          sizeLimit: quantity('Size of the volume for mirrors; at least 64Mi.', '2Gi'),
          existingClaim: optionalObjectName('A PersistentVolumeClaim instead of an emptyDir; for one replica.'),
        }),
        {},
      ),
      persistence: v.optional(
        v.strictObject({
          enabled: flag(
            'Keeps mirrors on a claim for each replica, which a StatefulSet makes: what is published is delivered also after a restart while the git host is away.',
            false,
          ),
          size: quantity('Size of each claim, at least source.storage.sizeLimit. Kubernetes lets nobody change it later.', '3Gi'),
          storageClassName: optionalObjectName("Storage class of the claims; empty: the cluster's default."),
          accessMode: v.optional(
            v.pipe(v.picklist(['ReadWriteOnce', 'ReadWriteOncePod']), v.description('Access mode of the claims.')),
            'ReadWriteOnce',
          ),
          annotations: annotations('Annotations of the claims.'),
          whenDeleted: v.optional(
            v.pipe(v.picklist(['Delete', 'Retain']), v.description('What becomes of the claims when the StatefulSet is deleted.')),
            'Delete',
          ),
        }),
        {},
      ),
      allowedHosts: gitHosts('Git hosts that repositories may be on; empty: any.'),
      allowPrivateAddresses: flag('Permits git hosts with addresses of private networks, as those of most plants.', true),
      allowedAddresses: networks(
        'Addresses and networks that git hosts may have besides; this machine, link-local ones and the API server are refused otherwise.',
      ),
      proxy: proxyUrl('Proxy to git hosts, such as http://proxy.example.com:3128; one with a password belongs in spec.git.proxy.'),
      noProxy: v.optional(
        v.pipe(v.string(), v.maxLength(4096), v.description('Hosts, domains and networks without the proxy, separated by commas.')),
        '',
      ),
    }),
    {},
  ),
  watchNamespaces: v.optional(v.pipe(v.array(namespace), v.description('Namespaces to work in, which must exist; empty: all.')), []),
  agent: v.optional(
    v.strictObject({
      resources: v.optional(
        v.strictObject({
          requests: quantities('Requests of agents; with no limits either: 10m and 64Mi.'),
          limits: quantities('Limits of agents; with no requests either: 256Mi of memory.'),
        }),
        {},
      ),
      guaranteed: v.optional(
        v.strictObject({
          enabled: flag('Gives an agent equal requests and limits in a pod that is Guaranteed without it, so that it stays so.', true),
          cpu: quantity('CPU of an agent there, request and limit.', '500m'),
          memory: quantity('Memory of an agent there, request and limit.', '256Mi'),
        }),
        {},
      ),
      securityContext: containerSecurity(
        "Security context of agents in place of ours as a whole, beside the user, group and SELinux options of the gateway's container.",
      ),
      logLevel: logLevel('agents'),
      allowImageOverride: flag('Whether a GatewaySync may name another agent image.', false),
    }),
    {},
  ),
  priorityClassName: optionalObjectName('Priority class of the controller pod.'),
  topologySpreadConstraints: items('Topology spread constraints of the controller pod.'),
  podDisruptionBudget: v.optional(
    v.strictObject({
      enabled: flag('Creates a PodDisruptionBudget when there is more than one replica.', true),
      minAvailable: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.description('Replicas that an eviction leaves; fewer than replicaCount.')),
        1,
      ),
    }),
    {},
  ),
  extraEnv: environment('Extra environment of the controller: entries {name, value} or {name, valueFrom}.'),
  crds: v.optional(
    v.strictObject({ install: flag('Writes the two definitions beside the operator; Helm installs them unless --skip-crds.', true) }),
    {},
  ),
})

/** Values as a user writes them, and with every default. */
export type ValuesInput = v.InferInput<typeof valuesSchema>
export type Values = v.InferOutput<typeof valuesSchema>
