/**
 * Users who reach the status page of an installation through a proxy with a login, and their Kubernetes permissions.
 */
/** The controller reads it from a file. */
export const pageSecret = 'the secret of the proxy'
/** The proxy's headers for a user. */
export const by = (user: string, groups = '') => ({
  'x-cluster-sync-proxy-secret': pageSecret,
  'x-forwarded-user': user,
  'x-forwarded-groups': groups,
})
/** `ann` may see the north, and members of the group may see everything. */
export const ann = by('ann')
export const boss = by('bob', 'everything, of-no-account')

/** Permission to patch GatewaySyncs, in the north for one user. */
export function patchRights(name: string, namespace: string, user: string): object[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [{ apiGroups: ['clustersync.io'], resources: ['gatewaysyncs'], verbs: ['patch'] }]
  return [
    { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata: { name, namespace }, rules },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup, kind: 'Role', name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    },
  ]
}

/** Permission to list GatewaySyncs, in the north for one user and everywhere for a group. */
export function rightsOf(name: string, namespace: string): object[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  const [apiVersion, roleRef] = [`${apiGroup}/v1`, { apiGroup, kind: 'ClusterRole', name }]
  const rules = [{ apiGroups: ['clustersync.io'], resources: ['gatewaysyncs'], verbs: ['get', 'list', 'watch'] }]
  const subject = (kind: string, name: string): object => ({ apiGroup, kind, name })
  return [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
    { apiVersion, kind: 'RoleBinding', metadata: { name, namespace }, roleRef, subjects: [subject('User', 'ann')] },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects: [subject('Group', `${name}:everything`)] },
  ]
}
