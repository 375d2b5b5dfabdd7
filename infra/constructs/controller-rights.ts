/**
 * The controller's account and its rights. The comment above each rule names the call that needs it.
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

/** The ServiceAccount of the controller with its roles, each as narrow as where it is needed. */
export class ControllerRights extends Construct {
  readonly serviceAccount: ApiObject | undefined
  /** Rights on objects that belong to no namespace. */
  readonly clusterRole: ApiObject
  readonly clusterRoleBinding: ApiObject
  /** Rights in the namespaces that it works in. In all others its account may read and write nothing. */
  readonly watchedRole: ApiObject
  /** One for the whole cluster, or one in each namespace that the values name. */
  readonly watchedBindings: readonly ApiObject[]
  /** Rights in its own namespace. */
  readonly ownRole: ApiObject
  readonly ownRoleBinding: ApiObject
  /** The right to read Secrets that GatewaySyncs name, never a list of them. A role of its own may be bound in fewer namespaces. */
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

/** Rights on objects that belong to no namespace. */
function controllerRules({ fullname }: Names, values: Live<Values>): Rule[] {
  return [
    // Checks the tokens of agents that ask for content, and of whoever collects metrics.
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    // With cert-manager the controller is ready once its injector has written the CA bundle that the API server trusts; without, it writes it.
    ...when<Rule>(values.webhook.enabled, [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [fullname],
        verbs: ['get', ...when<string>(not(certificateBy(values).certManager), ['patch'])],
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
    // The watch; and single pods, for an agent that asks for content before the watch has shown its pod.
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    ...when<Rule>(autoBindAgent.enabled, [
      // One binding in each namespace is ours. A server-side apply needs "create" for this name too; "list" finds those of this name alone.
      { apiGroups: [roleGroup], resources: ['rolebindings'], resourceNames: [agentRole], verbs: ['create', 'list', 'patch', 'delete'] },
      // The API server asks for this right in the namespace of the binding.
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
    // The controller warns by an event of its own pod, whose namespace need not be a watched one.
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

/** Whether the receiver is on and anyone may push, because no key is configured. */
function isReceiverOpen({ webhookReceiver: { enabled, hmac, token } }: Live<Values>): Value<boolean> {
  return and(enabled, ...[hmac, token].map(({ secret, secretRef }) => not(or(isSet(secret), isSet(secretRef.name)))))
}
