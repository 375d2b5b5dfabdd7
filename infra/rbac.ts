/**
 * Who may do what: the controller, agents, readers of the metrics. Each rule says which call needs it. Pure.
 */
import { group } from '../runtime/gatewaysync/names.ts'
import { certificateKind } from './controller.ts'
import type { Names } from './names.ts'
import type { Manifest } from './policies.ts'
import type { Values } from './values.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const roleGroup = 'rbac.authorization.k8s.io'

type Rule = { apiGroups?: string[]; resources?: string[]; resourceNames?: string[]; nonResourceURLs?: string[]; verbs: string[] }

export function rbac(names: Names, values: Values): Manifest[] {
  const { labels, namespace, serviceAccount, controllerRole, agentRole, metricsReaderRole, fullname } = names
  const account = { kind: 'ServiceAccount', name: serviceAccount, namespace }
  const clusterRole = (name: string, rules: Rule[]): Manifest => ({ apiVersion, kind: 'ClusterRole', metadata: { name, labels }, rules })
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: serviceAccount, namespace, labels, annotations: values.serviceAccount.annotations },
    },
    clusterRole(controllerRole, controllerRules(names, values)),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: controllerRole, labels },
      roleRef: { apiGroup: roleGroup, kind: 'ClusterRole', name: controllerRole },
      subjects: [account],
    },
    { apiVersion, kind: 'Role', metadata: { name: fullname, namespace, labels }, rules: ownNamespaceRules(names, values) },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name: fullname, namespace, labels },
      roleRef: { apiGroup: roleGroup, kind: 'Role', name: fullname },
      subjects: [account],
    },
    clusterRole(agentRole, agentRules),
    clusterRole(metricsReaderRole, [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]),
  ]
}

function controllerRules({ fullname, agentRole }: Names, values: Values): Rule[] {
  const {
    rbac: { autoBindAgent },
    webhook,
  } = values
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
    // Whose token asks for content or figures.
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ...(autoBindAgent.enabled
      ? [
          { apiGroups: [roleGroup], resources: ['rolebindings'], verbs: ['create', 'patch'] },
          { apiGroups: [roleGroup], resources: ['clusterroles'], resourceNames: [agentRole], verbs: ['bind'] },
        ]
      : []),
    ...(webhook.enabled && certificateKind(values) !== 'certManager'
      ? [
          // The API server must trust a certificate that cert-manager knows nothing of.
          {
            apiGroups: ['admissionregistration.k8s.io'],
            resources: ['mutatingwebhookconfigurations'],
            resourceNames: [fullname],
            verbs: ['get', 'patch'],
          },
        ]
      : []),
  ]
}

function ownNamespaceRules({ fullname, certificateSecret }: Names, values: Values): Rule[] {
  return [
    ...(values.leaderElection.enabled
      ? [
          { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [fullname], verbs: ['get', 'patch'] },
          { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
        ]
      : []),
    ...(certificateKind(values) === 'selfManaged'
      ? [
          { apiGroups: [''], resources: ['secrets'], resourceNames: [certificateSecret], verbs: ['get', 'patch'] },
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        ]
      : []),
  ]
}

/** An agent reads its GatewaySync and writes its own report; the admission policy narrows both to one object. */
const agentRules: Rule[] = [
  { apiGroups: [group], resources: ['gatewaysyncs'], verbs: ['list', 'watch'] },
  { apiGroups: [group], resources: ['syncreports'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['syncreports/status'], verbs: ['patch'] },
]
