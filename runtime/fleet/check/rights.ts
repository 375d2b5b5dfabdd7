/**
 * Which rights an installation needs, as its roles are to grant them: the same list as in the manifests, which a test compares. Pure.
 */
import { group as ownGroup } from '../../gatewaysync/names.ts'
import type { OperatorSettings, Right } from './facts.ts'

/** `watched`: in each namespace that it works in, or everywhere; `own`: in the operator's namespace; `cluster`: of no namespace. */
export type ControllerRight = Right & { where: 'cluster' | 'watched' | 'own' }

type Needed = [where: ControllerRight['where'], group: string, resource: string, verbs: readonly string[], name?: string]

/** What the controller must be allowed with these settings, each to be asked of the API server by itself. */
export function controllerRights(settings: OperatorSettings): ControllerRight[] {
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

/** What the account of a gateway pod needs in its namespace. */
export const agentRights: readonly Right[] = [
  ...['list', 'watch'].map((verb) => ({ verb, group: ownGroup, resource: 'gatewaysyncs', name: undefined })),
  ...['get', 'create', 'patch'].map((verb) => ({ verb, group: ownGroup, resource: 'syncreports', name: undefined })),
  { verb: 'patch', group: ownGroup, resource: 'syncreports/status', name: undefined },
]

/** `patch gatewaysyncs.clustersync.io/status`: as a person says it. */
export function rightInWords({ verb, group, resource, name }: Right): string {
  const [kind = '', sub] = resource.split('/')
  return `${verb} ${kind}${group === '' ? '' : `.${group}`}${sub === undefined ? '' : `/${sub}`}${name === undefined ? '' : ` "${name}"`}`
}
