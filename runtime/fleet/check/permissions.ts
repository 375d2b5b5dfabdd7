/**
 * The permissions that an installation needs. A test compares the list with the roles in the manifests. Pure.
 */
import { group as ownGroup } from '../../api/names.ts'
import type { OperatorSettings, Permission } from './facts.ts'

/** `watched`: in each watched namespace, or cluster-wide; `own`: in the operator's namespace; `cluster`: cluster-scoped. */
export type ControllerPermission = Permission & { where: 'cluster' | 'watched' | 'own' }

type Needed = [where: ControllerPermission['where'], group: string, resource: string, verbs: readonly string[], name?: string]

/** The permissions that the controller needs with these settings, one for each request to the API server. */
export function controllerPermissions(settings: OperatorSettings): ControllerPermission[] {
  const { fullname, leaderElection, webhookConfiguration, keepsBundle, selfManaged, bindsAgents, agentRole, isReceiverOpen } = settings
  const needed: Needed[] = [
    ['cluster', 'authentication.k8s.io', 'tokenreviews', ['create']],
    ['cluster', 'authorization.k8s.io', 'subjectaccessreviews', ['create']],
    ['watched', ownGroup, 'gatewaysyncs', ['list', 'watch', 'patch']],
    ['watched', ownGroup, 'gatewaysyncs/status', ['patch']],
    ['watched', ownGroup, 'syncreports', ['list', 'watch']],
    ['watched', '', 'pods', ['get', 'list', 'watch']],
    ['watched', 'events.k8s.io', 'events', ['create', 'patch']],
  ]
  if (webhookConfiguration !== undefined) {
    const verbs = keepsBundle ? ['get', 'patch'] : ['get']
    needed.push(['cluster', 'admissionregistration.k8s.io', 'mutatingwebhookconfigurations', verbs, webhookConfiguration])
  }
  if (bindsAgents) {
    needed.push(['watched', 'rbac.authorization.k8s.io', 'rolebindings', ['create', 'list', 'patch', 'delete'], agentRole])
    needed.push(['watched', 'rbac.authorization.k8s.io', 'clusterroles', ['bind'], agentRole])
  }
  if (leaderElection) {
    needed.push(['own', 'coordination.k8s.io', 'leases', ['get', 'list', 'watch', 'patch'], fullname])
    needed.push(['own', 'coordination.k8s.io', 'leases', ['create']])
  }
  if (isReceiverOpen) {
    needed.push(['own', '', 'pods', ['get']])
    needed.push(['own', 'events.k8s.io', 'events', ['create', 'patch']])
  }
  if (selfManaged) {
    needed.push(['own', '', 'secrets', ['get', 'patch'], `${fullname}-certificate`])
    needed.push(['own', '', 'secrets', ['create']])
  }
  return needed.flatMap(([where, group, resource, verbs, name]) => verbs.map((verb) => ({ where, verb, group, resource, name })))
}

/** The permissions that the account of a gateway pod needs in its namespace. */
export const agentPermissions: readonly Permission[] = [
  ...['list', 'watch'].map((verb) => ({ verb, group: ownGroup, resource: 'gatewaysyncs', name: undefined })),
  ...['get', 'create', 'patch'].map((verb) => ({ verb, group: ownGroup, resource: 'syncreports', name: undefined })),
  { verb: 'patch', group: ownGroup, resource: 'syncreports/status', name: undefined },
]

/** Returns `patch gatewaysyncs.clustersync.io/status`. */
export function permissionText({ verb, group, resource, name }: Permission): string {
  const [kind = '', sub] = resource.split('/')
  return `${verb} ${kind}${group === '' ? '' : `.${group}`}${sub === undefined ? '' : `/${sub}`}${name === undefined ? '' : ` "${name}"`}`
}
