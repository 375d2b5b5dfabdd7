/**
 * Who may do what: the controller, agents, readers of the metrics. Each rule says which call needs it. Pure.
 */
import { group } from '../runtime/gatewaysync/names.ts'
import { certificateBy } from './certificates.ts'
import { and, either, isSet, not, or } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { each, when } from './helm/nodes.ts'
import { clusterWide, namespaced } from './metadata.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './manifest.ts'
import type { Values } from './values.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const roleGroup = 'rbac.authorization.k8s.io'

type Rule = { apiGroups?: string[]; resources?: string[]; resourceNames?: Value<string>[]; nonResourceURLs?: string[]; verbs: string[] }

export function rbac(names: Names, values: Live<Values>): LiveManifest[] {
  const { serviceAccount, controllerRole, agentRole, metricsReaderRole, watchedRole, fullname } = names
  const { create, annotations } = values.serviceAccount
  return [
    ...when(create, [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: namespaced(names, serviceAccount, { annotations }) }]),
    clusterRole(names, controllerRole, controllerRules(names, values)),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: clusterWide(names, controllerRole),
      ...binding(names, 'ClusterRole', controllerRole),
    },
    clusterRole(names, watchedRole, watchedRules(names, values)),
    { apiVersion, kind: 'Role', metadata: namespaced(names, fullname), rules: ownNamespaceRules(names, values) },
    { apiVersion, kind: 'RoleBinding', metadata: namespaced(names, fullname), ...binding(names, 'Role', fullname) },
    clusterRole(names, agentRole, agentRules),
    clusterRole(names, metricsReaderRole, [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  ]
}

/** The controller's rights in the namespaces that it works in; elsewhere its account may read and write nothing. */
export function watchedRights(names: Names, { watchNamespaces }: Live<Values>): LiveManifest[] {
  return boundIn('watched', names, names.watchedRole, watchNamespaces)
}

/** Single Secrets that a GatewaySync names, never a list of them; a role of its own, because not every installation needs it everywhere. */
export function secretRights(names: Names, { watchNamespaces, rbac: { secrets } }: Live<Values>): LiveManifest[] {
  const namespaces = either(isSet(secrets.namespaces), secrets.namespaces, watchNamespaces)
  return when(secrets.enabled, [
    clusterRole(names, names.secretsRole, [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]),
    ...boundIn('secretsOf', names, names.secretsRole, namespaces),
  ])
}

/** Binds a role of the controller in some namespaces, or in all where none is named. */
function boundIn(variable: string, names: Names, role: Value<string>, namespaces: Value<readonly string[]>): LiveManifest[] {
  return [
    ...when(not(isSet(namespaces)), [
      { apiVersion, kind: 'ClusterRoleBinding', metadata: clusterWide(names, role), ...binding(names, 'ClusterRole', role) },
    ]),
    ...each(variable, namespaces, (namespace) => ({
      apiVersion,
      kind: 'RoleBinding',
      metadata: namespaced(names, role, { namespace }),
      ...binding(names, 'ClusterRole', role),
    })),
  ]
}

function clusterRole(names: Names, name: Value<string>, rules: Rule[]): LiveManifest {
  return { apiVersion, kind: 'ClusterRole', metadata: clusterWide(names, name), rules }
}

function binding({ serviceAccount, namespace }: Names, kind: 'ClusterRole' | 'Role', name: Value<string>): object {
  return {
    roleRef: { apiGroup: roleGroup, kind, name },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace }],
  }
}

/** What belongs to no namespace. */
function controllerRules({ fullname }: Names, values: Live<Values>): Rule[] {
  return [
    // Whose token asks for content or figures.
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    // The API server must trust a certificate that cert-manager knows nothing of.
    ...when(and(values.webhook.enabled, not(certificateBy(values).certManager)), [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [fullname],
        verbs: ['get', 'patch'],
      },
    ]),
  ]
}

function watchedRules({ agentRole }: Names, { rbac: { autoBindAgent } }: Live<Values>): Rule[] {
  return [
    // The watch, and the request annotations of a push.
    { apiGroups: [group], resources: ['gatewaysyncs'], verbs: ['list', 'watch', 'patch'] },
    { apiGroups: [group], resources: ['gatewaysyncs/status'], verbs: ['patch'] },
    { apiGroups: [group], resources: ['syncreports'], verbs: ['list', 'watch'] },
    // The watch, and a pod that asks for content before the watch has told of it.
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...when(autoBindAgent.enabled, [
      // The one binding of a namespace that is ours; applying it asks for "create" by name too.
      { apiGroups: [roleGroup], resources: ['rolebindings'], resourceNames: [agentRole], verbs: ['create', 'patch', 'delete'] },
      // Asked in the namespace of the binding.
      { apiGroups: [roleGroup], resources: ['clusterroles'], resourceNames: [agentRole], verbs: ['bind'] },
    ]),
  ]
}

function ownNamespaceRules({ fullname, certificateSecret }: Names, values: Live<Values>): Rule[] {
  return [
    ...when(values.leaderElection.enabled, [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [fullname], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    ]),
    // An event of the controller's own pod says so, in a namespace that need not be a watched one.
    ...when(isReceiverOpen(values), [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ]),
    ...when(certificateBy(values).selfManaged, [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [certificateSecret], verbs: ['get', 'patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ]),
  ]
}

/** Whether anyone may push. */
function isReceiverOpen({ webhookReceiver: { enabled, hmac, token } }: Live<Values>): Value<boolean> {
  return and(enabled, ...[hmac, token].map(({ secret, secretRef }) => not(or(isSet(secret), isSet(secretRef.name)))))
}

/**
 * An agent reads its GatewaySync and writes its own report. An admission policy narrows what it writes to the report of its pod; what it
 * reads nothing can narrow, so that it may list all GatewaySyncs of its namespace.
 */
const agentRules: Rule[] = [
  { apiGroups: [group], resources: ['gatewaysyncs'], verbs: ['list', 'watch'] },
  { apiGroups: [group], resources: ['syncreports'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['syncreports/status'], verbs: ['patch'] },
]
