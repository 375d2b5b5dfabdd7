/**
 * The controller's ServiceAccount and its roles. The comment above each rule names the call that needs it.
 */
import * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { gatewaySyncKind, syncReportKind } from '../../runtime/api/names.ts'
import type { SharedProps } from './shared-props.ts'
import { clusterMetadata, metadata } from '../names.ts'
import { isReceiverOpen } from '../values/receiver-keys.ts'
import type { Values } from '../values.ts'
import { certificateSource } from './certificates.ts'
import { addSubject, createClusterRole, customResource, named } from './roles.ts'

const events = kplus.ApiResource.custom({ apiGroup: 'events.k8s.io', resourceType: 'events' })

// The types of cdk8s-plus do not support `exactOptionalPropertyTypes`, so the code below casts its classes to its interfaces.

/** Each role is bound only where it is needed. */
export class ControllerPermissions extends Construct {
  readonly serviceAccount: kplus.IServiceAccount
  /** For cluster-scoped objects. */
  readonly clusterRole: kplus.ClusterRole
  readonly clusterRoleBinding: kplus.ClusterRoleBinding
  /** For the namespaces that the controller watches. */
  readonly watchedRole: kplus.ClusterRole
  /** One for the whole cluster, or one in each of `watchNamespaces`. */
  readonly watchedBindings: readonly (kplus.ClusterRoleBinding | kplus.RoleBinding)[]
  /** For the release namespace. */
  readonly ownRole: kplus.Role
  readonly ownRoleBinding: kplus.RoleBinding
  /** For the Secrets that GatewaySyncs reference, without permission to list them. It may be bound in fewer namespaces than `watchedRole`. */
  readonly secretsRole: kplus.ClusterRole | undefined
  readonly secretsBindings: readonly (kplus.ClusterRoleBinding | kplus.RoleBinding)[]

  private readonly props: SharedProps

  constructor(scope: Construct, id: string, props: SharedProps) {
    super(scope, id)
    this.props = props
    const { names, values } = props
    const { serviceAccount, watchNamespaces, rbac } = values
    this.serviceAccount = serviceAccount.create
      ? (new kplus.ServiceAccount(this, 'ServiceAccount', {
          metadata: metadata(names, names.serviceAccount, { annotations: serviceAccount.annotations }),
        }) as kplus.IServiceAccount)
      : kplus.ServiceAccount.fromServiceAccountName(this, 'ServiceAccount', names.serviceAccount, { namespaceName: names.namespace })

    this.clusterRole = createClusterRole(this, 'ClusterRole', clusterMetadata(names, names.controllerRole), clusterRules(props))
    this.clusterRoleBinding = new kplus.ClusterRoleBinding(this, 'ClusterRoleBinding', {
      metadata: clusterMetadata(names, names.controllerRole),
      role: this.clusterRole as kplus.IClusterRole,
    })
    addSubject(this.clusterRoleBinding, this.serviceAccount)

    this.watchedRole = createClusterRole(this, 'WatchedRole', clusterMetadata(names, names.watchedRole), watchedRules(props))
    this.watchedBindings = this.bind('Watched', this.watchedRole, watchNamespaces)

    this.ownRole = new kplus.Role(this, 'OwnRole', { metadata: metadata(names, names.fullname), rules: ownRules(props) })
    this.ownRoleBinding = new kplus.RoleBinding(this, 'OwnRoleBinding', {
      metadata: metadata(names, names.fullname),
      role: this.ownRole as kplus.IRole,
    })
    addSubject(this.ownRoleBinding, this.serviceAccount)

    this.secretsBindings = []
    if (!rbac.secrets.enabled) return
    this.secretsRole = createClusterRole(this, 'SecretsRole', clusterMetadata(names, names.secretsRole), [
      { verbs: ['get'], endpoints: secrets(values) },
    ])
    const namespaces = rbac.secrets.namespaces.length > 0 ? rbac.secrets.namespaces : watchNamespaces
    this.secretsBindings = this.bind('Secrets', this.secretsRole, namespaces)
  }

  /** Binds a role in the given namespaces, or in all if none is given. */
  private bind(id: string, role: kplus.ClusterRole, namespaces: readonly string[]): (kplus.ClusterRoleBinding | kplus.RoleBinding)[] {
    const { names } = this.props
    const bindings =
      namespaces.length === 0
        ? [
            new kplus.ClusterRoleBinding(this, `${id}Binding`, {
              metadata: clusterMetadata(names, role.name),
              role: role as kplus.IClusterRole,
            }),
          ]
        : namespaces.map(
            (namespace) =>
              new kplus.RoleBinding(this, `${id}Binding-${namespace}`, {
                metadata: { ...clusterMetadata(names, role.name), namespace },
                role: role as kplus.IClusterRole,
              }),
          )
    for (const binding of bindings) addSubject(binding, this.serviceAccount)
    return bindings
  }
}

function clusterRules({ names, values }: SharedProps): kplus.ClusterRolePolicyRule[] {
  const rules: kplus.ClusterRolePolicyRule[] = [
    // Checks the tokens of agents that request content, and of clients that scrape metrics.
    { verbs: ['create'], endpoints: [kplus.ApiResource.TOKEN_REVIEWS, kplus.ApiResource.SUBJECT_ACCESS_REVIEWS] },
  ]
  if (values.webhook.enabled) {
    rules.push({
      // The controller becomes ready when the CA bundle is set: it writes the bundle itself, or waits for cert-manager's injector.
      verbs: certificateSource(values) === 'cert-manager' ? ['get'] : ['get', 'patch'],
      endpoints: [named(kplus.ApiResource.MUTATING_WEBHOOK_CONFIGURATIONS, names.fullname)],
    })
  }
  return rules
}

function watchedRules({ names, values }: SharedProps): kplus.ClusterRolePolicyRule[] {
  const rules: kplus.ClusterRolePolicyRule[] = [
    // Watches GatewaySyncs, and writes the request annotations of a push.
    { verbs: ['list', 'watch', 'patch'], endpoints: [customResource(gatewaySyncKind.plural)] },
    { verbs: ['patch'], endpoints: [customResource(`${gatewaySyncKind.plural}/status`)] },
    { verbs: ['list', 'watch'], endpoints: [customResource(syncReportKind.plural)] },
    // Watches pods, and reads the pod of an agent that requests content before the watch has reported the pod.
    { verbs: ['get', 'list', 'watch'], endpoints: [kplus.ApiResource.PODS] },
    { verbs: ['create', 'patch'], endpoints: [events] },
  ]
  if (values.rbac.autoBindAgent.enabled) {
    rules.push(
      // One binding in each namespace. Server-side apply also needs "create" for this name; "list" returns only bindings with this name.
      { verbs: ['create', 'list', 'patch', 'delete'], endpoints: [named(kplus.ApiResource.ROLE_BINDINGS, names.agentRole)] },
      // The API server checks this permission in the namespace of the binding.
      { verbs: ['bind'], endpoints: [named(kplus.ApiResource.CLUSTER_ROLES, names.agentRole)] },
    )
  }
  return rules
}

function ownRules({ names, values }: SharedProps): kplus.RolePolicyRule[] {
  const rules: kplus.RolePolicyRule[] = []
  if (values.leaderElection.enabled) {
    rules.push(
      { verbs: ['get', 'list', 'watch', 'patch'], resources: [named(kplus.ApiResource.LEASES, names.fullname)] },
      // RBAC cannot restrict "create" to a name; an admission policy does.
      { verbs: ['create'], resources: [kplus.ApiResource.LEASES] },
    )
  }
  if (isReceiverOpen(values)) {
    // The warning about an open receiver is an event of the controller's own pod, whose namespace might not be watched.
    rules.push({ verbs: ['get'], resources: [kplus.ApiResource.PODS] }, { verbs: ['create', 'patch'], resources: [events] })
  }
  if (certificateSource(values) === 'controller') {
    rules.push(
      { verbs: ['get', 'patch'], resources: [named(kplus.ApiResource.SECRETS, names.certificateSecret)] },
      { verbs: ['create'], resources: [kplus.ApiResource.SECRETS] },
    )
  }
  return rules
}

function secrets({ rbac }: Values): kplus.IApiEndpoint[] {
  const { names } = rbac.secrets
  return names.length > 0 ? names.map((name) => named(kplus.ApiResource.SECRETS, name)) : [kplus.ApiResource.SECRETS]
}
