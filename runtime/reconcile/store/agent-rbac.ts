/**
 * Determines which ServiceAccounts of a namespace need the agent's role: only those of gateway pods that follow a GatewaySync there.
 * Without such a pod nothing is bound, not even the default account. Pure.
 */
import { fieldManager } from '../../api/names.ts'
import type { PodRecord } from './records.ts'

/** The fields of a rbac.authorization.k8s.io/v1 RoleBinding that are written. */
export type RoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1'
  kind: 'RoleBinding'
  metadata: { name: string; namespace: string; labels: Record<string, string> }
  roleRef: { apiGroup: 'rbac.authorization.k8s.io'; kind: 'ClusterRole'; name: string }
  subjects: { kind: 'ServiceAccount'; name: string; namespace: string }[]
}

const managedBy = { key: 'app.kubernetes.io/managed-by', value: fieldManager } as const

/** Selects only objects that the controller has written itself. */
export const managedByUs = `${managedBy.key}=${managedBy.value}`

/** Returns the RoleBinding that a namespace should have, or undefined. */
export function agentRoleBinding(namespace: string, roleName: string, pods: readonly PodRecord[]): RoleBinding | undefined {
  // Agents of terminating pods still report how their last sync ended.
  const accounts = [...new Set(pods.map(({ serviceAccount }) => serviceAccount))].toSorted()
  if (accounts.length === 0) return undefined
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: roleName, namespace, labels: { [managedBy.key]: managedBy.value } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
    subjects: accounts.map((name) => ({ kind: 'ServiceAccount', name, namespace })),
  }
}
