/**
 * The controller's account and what it may do. Each rule says which call needs it.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { group } from '../../runtime/gatewaysync/names.ts'
import { and, either, isSet, not, or } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObject, apiObjectForEach, apiObjectWhen } from './api-object.ts'
import { certificateBy } from './certificates.ts'
import type { Installation } from './installation.ts'
import { clusterWide, namespaced } from './metadata.ts'
import type { Written } from './written.ts'

const roleGroup = 'rbac.authorization.k8s.io'

type Rule = Written<k8s.PolicyRule>

export class ControllerRights extends Construct {
  readonly serviceAccount: ApiObject | undefined
  /** What belongs to no namespace. */
  readonly clusterRole: ApiObject
  readonly clusterRoleBinding: ApiObject
  /** In the namespaces that it works in; elsewhere its account may read and write nothing. */
  readonly watchedRole: ApiObject
  /** One for the whole cluster, or one in each namespace that the values name. */
  readonly watchedBindings: readonly ApiObject[]
  /** In its own namespace. */
  readonly ownRole: ApiObject
  readonly ownRoleBinding: ApiObject
  /** Single Secrets that a GatewaySync names, never a list of them; not every installation needs that everywhere. */
  readonly secretsRole: ApiObject | undefined
  readonly secretsBindings: readonly ApiObject[]

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { fullname, controllerRole, watchedRole, secretsRole } = names
    const { serviceAccount, watchNamespaces, rbac } = values
    const metadata = namespaced(names, names.serviceAccount, { annotations: serviceAccount.annotations })
    this.serviceAccount = apiObjectWhen(serviceAccount.create, this, 'service-account', k8s.KubeServiceAccount, { metadata })
    this.clusterRole = apiObject(this, 'cluster-role', k8s.KubeClusterRole, {
      metadata: clusterWide(names, controllerRole),
      rules: controllerRules(names, values),
    })
    this.clusterRoleBinding = apiObject(this, 'cluster-role-binding', k8s.KubeClusterRoleBinding, {
      metadata: clusterWide(names, controllerRole),
      ...binding(names, 'ClusterRole', controllerRole),
    })
    this.watchedRole = apiObject(this, 'watched-role', k8s.KubeClusterRole, {
      metadata: clusterWide(names, watchedRole),
      rules: watchedRules(names, values),
    })
    this.ownRole = apiObject(this, 'own-role', k8s.KubeRole, {
      metadata: namespaced(names, fullname),
      rules: ownNamespaceRules(names, values),
    })
    this.ownRoleBinding = apiObject(this, 'own-role-binding', k8s.KubeRoleBinding, {
      metadata: namespaced(names, fullname),
      ...binding(names, 'Role', fullname),
    })
    this.watchedBindings = boundIn(this, 'watched', names, { role: watchedRole, namespaces: watchNamespaces })
    this.secretsRole = apiObjectWhen(rbac.secrets.enabled, this, 'secrets-role', k8s.KubeClusterRole, {
      metadata: clusterWide(names, secretsRole),
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    })
    this.secretsBindings = boundIn(this, 'secretsOf', names, {
      role: secretsRole,
      namespaces: either(isSet(rbac.secrets.namespaces), rbac.secrets.namespaces, watchNamespaces),
      when: rbac.secrets.enabled,
    })
  }
}

type Bound = { role: Value<string>; namespaces: Value<readonly string[]>; when?: Value<boolean> }

/** Binds a role of the controller in some namespaces, or in all where none is named. `variable` is what the chart calls a namespace. */
function boundIn(scope: Construct, variable: string, names: Names, { role, namespaces: list, when = true }: Bound): ApiObject[] {
  const everywhere = apiObjectWhen([when, not(isSet(list))], scope, `${variable}-everywhere`, k8s.KubeClusterRoleBinding, {
    metadata: clusterWide(names, role),
    ...binding(names, 'ClusterRole', role),
  })
  const inEach = apiObjectForEach({ variable, list, when }, scope, variable, k8s.KubeRoleBinding, (namespace) => ({
    metadata: namespaced(names, role, { namespace }),
    ...binding(names, 'ClusterRole', role),
  }))
  return everywhere === undefined ? inEach : [everywhere, ...inEach]
}

type Binding = { roleRef: Written<k8s.RoleRef>; subjects: Written<k8s.Subject>[] }

function binding({ serviceAccount, namespace }: Names, kind: 'ClusterRole' | 'Role', name: Value<string>): Binding {
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
    ...when<Rule>(and(values.webhook.enabled, not(certificateBy(values).certManager)), [
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
    ...when<Rule>(autoBindAgent.enabled, [
      // The one binding of a namespace that is ours; applying it asks for "create" by name too.
      { apiGroups: [roleGroup], resources: ['rolebindings'], resourceNames: [agentRole], verbs: ['create', 'patch', 'delete'] },
      // Asked in the namespace of the binding.
      { apiGroups: [roleGroup], resources: ['clusterroles'], resourceNames: [agentRole], verbs: ['bind'] },
    ]),
  ]
}

function ownNamespaceRules({ fullname, certificateSecret }: Names, values: Live<Values>): Rule[] {
  return [
    ...when<Rule>(values.leaderElection.enabled, [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [fullname], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    ]),
    // An event of the controller's own pod says so, in a namespace that need not be a watched one.
    ...when<Rule>(isReceiverOpen(values), [
      { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ]),
    ...when<Rule>(certificateBy(values).selfManaged, [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [certificateSecret], verbs: ['get', 'patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ]),
  ]
}

/** Whether anyone may push. */
function isReceiverOpen({ webhookReceiver: { enabled, hmac, token } }: Live<Values>): Value<boolean> {
  return and(enabled, ...[hmac, token].map(({ secret, secretRef }) => not(or(isSet(secret), isSet(secretRef.name)))))
}
