/**
 * Defines Kubernetes objects as this product handles them, and every type of object that it reads or writes. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { gatewaySyncKind, group, syncReportKind, version } from '../api/names.ts'

/** Identifies a type in URLs of the API server. `group` is `''` for the core group. */
export type ResourceType = { group: string; version: string; plural: string; kind: string; namespaced: boolean }

/** Names one object of a type; without `namespace` for a cluster-scoped type. */
export type ObjectKey = { namespace?: string; name: string }

/** As in metadata.ownerReferences: the object is deleted with its owner. `uid` is the owner's. */
export type OwnerReference = { apiVersion: string; kind: string; name: string; uid: string }

/** An object as the API server returns it: `spec` and `status` depend on its kind. */
export type KubeObject = {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    uid: string
    resourceVersion: string
    generation?: number
    annotations?: Record<string, string>
    labels?: Record<string, string>
    ownerReferences?: OwnerReference[]
    deletionTimestamp?: string
    creationTimestamp?: string
  }
  spec?: unknown
  status?: unknown
}

export const gatewaySyncType: ResourceType = {
  group,
  version,
  plural: gatewaySyncKind.plural,
  kind: gatewaySyncKind.kind,
  namespaced: true,
}
export const syncReportType: ResourceType = { group, version, plural: syncReportKind.plural, kind: syncReportKind.kind, namespaced: true }
export const podType: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
export const secretType: ResourceType = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }
export const leaseType: ResourceType = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true }
export const eventType: ResourceType = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }
export const roleBindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}
export const webhookConfigurationType: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
}

/**
 * Returns the URL path of all objects of a type, of those in a namespace, or of one object; every part is escaped. Throws Rejected for a
 * name that would lead to another object or to all of them.
 */
export function pathOf(
  { group, version, plural, namespaced }: ResourceType,
  key: { namespace?: string; name?: string },
  subresource?: string,
): string {
  for (const part of [key.namespace, key.name]) {
    if (part === '' || part === '.' || part === '..') throw new Fault('Rejected', `"${part}" is not a name of an object or namespace`)
  }
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const scope = namespaced && key.namespace !== undefined ? `/namespaces/${encodeURIComponent(key.namespace)}` : ''
  const name = key.name === undefined ? '' : `/${encodeURIComponent(key.name)}`
  return `${root}${scope}/${plural}${name}${subresource === undefined ? '' : `/${subresource}`}`
}
