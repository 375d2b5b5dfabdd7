/**
 * Who may do what: the controller, agents, readers of the metrics. Each rule says which call needs it. Pure.
 */
import { group } from '../runtime/gatewaysync/names.ts'
import { certificateBy } from './certificates.ts'
import { and, isSet, not, or } from './helm/combinators.ts'
import type { Live, Value } from './helm/expression.ts'
import { when } from './helm/nodes.ts'
import type { Names } from './names.ts'
import type { LiveManifest } from './policies.ts'
import type { Values } from './values.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const roleGroup = 'rbac.authorization.k8s.io'

type Rule = { apiGroups?: string[]; resources?: string[]; resourceNames?: Value<string>[]; nonResourceURLs?: string[]; verbs: string[] }

export function rbac(names: Names, values: Live<Values>): LiveManifest[] {
  const { labels, namespace, serviceAccount, controllerRole, agentRole, metricsReaderRole, watchedRole, fullname } = names
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: serviceAccount, namespace, labels, annotations: values.serviceAccount.annotations },
    },
    clusterRole(names, controllerRole, controllerRules(names, values)),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: controllerRole, labels },
      ...binding(names, 'ClusterRole', controllerRole),
    },
    clusterRole(names, watchedRole, watchedRules(names, values)),
    { apiVersion, kind: 'Role', metadata: { name: fullname, namespace, labels }, rules: ownNamespaceRules(names, values) },
    { apiVersion, kind: 'RoleBinding', metadata: { name: fullname, namespace, labels }, ...binding(names, 'Role', fullname) },
    clusterRole(names, agentRole, agentRules),
    clusterRole(names, metricsReaderRole, [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  ]
}

/** For an installation that works in every namespace. */
export function watchedEverywhere(names: Names): LiveManifest {
  const { watchedRole, labels } = names
  return { apiVersion, kind: 'ClusterRoleBinding', metadata: { name: watchedRole, labels }, ...binding(names, 'ClusterRole', watchedRole) }
}

/** For one that works in some: elsewhere its account may read and write nothing. */
export function watchedIn(names: Names, namespace: Value<string>): LiveManifest {
  const { watchedRole, labels } = names
  const metadata = { name: watchedRole, namespace, labels }
  return { apiVersion, kind: 'RoleBinding', metadata, ...binding(names, 'ClusterRole', watchedRole) }
}

function clusterRole({ labels }: Names, name: Value<string>, rules: Rule[]): LiveManifest {
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules }
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
    // Single Secrets that a GatewaySync names; never a list.
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...when(autoBindAgent.enabled, [
      { apiGroups: [roleGroup], resources: ['rolebindings'], verbs: ['create', 'patch'] },
      // Asked in the namespace of the binding.
      { apiGroups: [roleGroup], resources: ['clusterroles'], resourceNames: [agentRole], verbs: ['bind'] },
    ]),
  ]
}

function ownNamespaceRules({ fullname, certificateSecret }: Names, values: Live<Values>): Rule[] {
  return [
    ...when(values.leaderElection.enabled, [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [fullname], verbs: ['get', 'patch'] },
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

/** An agent reads its GatewaySync and writes its own report; the admission policy narrows both to one object. */
const agentRules: Rule[] = [
  { apiGroups: [group], resources: ['gatewaysyncs'], verbs: ['list', 'watch'] },
  { apiGroups: [group], resources: ['syncreports'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['syncreports/status'], verbs: ['patch'] },
]
