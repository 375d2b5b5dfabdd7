/**
 * Where the controller's container mounts its volumes, and the names that extra volumes may not use. Pure.
 */
export const mountPaths = {
  source: '/var/lib/cluster-sync',
  certificate: '/etc/cluster-sync/certificate',
  receiver: '/etc/cluster-sync/receiver',
  notifications: '/etc/cluster-sync/notifications',
  statusPage: '/etc/cluster-sync/status-page',
  login: '/etc/cluster-sync/status-page-login',
  clusters: '/etc/cluster-sync/clusters',
  tmp: '/tmp',
} as const

/** Names and paths that `extraVolumes` and `extraVolumeMounts` may not use. */
export const operatorVolumes: readonly string[] = [
  'source',
  'certificate',
  'receiver-hmac',
  'receiver-token',
  'notifications',
  'status-page',
  'status-page-login',
  'clusters',
  'tmp',
]
export const operatorMountPaths: readonly string[] = Object.values(mountPaths)
