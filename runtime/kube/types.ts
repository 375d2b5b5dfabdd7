/**
 * Defines Kubernetes objects as this product handles them, and every type of object that it reads or writes. Kinds of Kubernetes have the
 * types of client-node. Pure.
 */
import type {
  EventsV1Event,
  V1Lease,
  V1MutatingWebhookConfiguration,
  V1OwnerReference,
  V1Pod,
  V1RoleBinding,
  V1Secret,
} from '@kubernetes/client-node'
import { Fault } from '../platform/fault.ts'
import { gatewaySyncKind, group, syncReportKind, version } from '../api/names.ts'

/** Names one object of a type; without `namespace` for a cluster-scoped type. */
export type ObjectKey = { namespace?: string; name: string }

/** What the API server returns of every object: `spec` and `status` depend on its kind. */
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
    ownerReferences?: V1OwnerReference[]
    deletionTimestamp?: string
    creationTimestamp?: string
  }
  spec?: unknown
  status?: unknown
}

/** A type of client-node as JSON, in which times are text. */
export type Json<Value> = Value extends Date ? string : Value extends object ? { [Key in keyof Value]: Json<Value[Key]> } : Value

/** An object of a kind of client-node, as the API server returns it. */
export type Stored<Kind> = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'> & Omit<Json<Kind>, 'apiVersion' | 'kind' | 'metadata'>

/** An object to create. Of a kind without its own type: any. */
export type New<Kind extends KubeObject> = KubeObject extends Kind
  ? object
  : Omit<Kind, 'metadata' | 'status'> & { metadata: Partial<KubeObject['metadata']> }

/** A merge patch (RFC 7396) for an object: null removes a member, and lists are replaced whole. */
export type PatchOf<Kind extends KubeObject> = KubeObject extends Kind ? object : MergePatch<Kind>
type MergePatch<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]?: MergePatch<Value[Key]> | null }
    : Value

/** Identifies a type in URLs of the API server. `group` is `''` for the core group. `object` exists for the compiler only. */
export type ResourceType<Kind extends KubeObject = KubeObject> = {
  group: string
  version: string
  plural: string
  kind: string
  namespaced: boolean
  object?: Kind
}

export const gatewaySyncType: ResourceType = {
  group,
  version,
  plural: gatewaySyncKind.plural,
  kind: gatewaySyncKind.kind,
  namespaced: true,
}
export const syncReportType: ResourceType = { group, version, plural: syncReportKind.plural, kind: syncReportKind.kind, namespaced: true }
export const podType: ResourceType<Stored<V1Pod>> = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
export const secretType: ResourceType<Stored<V1Secret>> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true }
export const leaseType: ResourceType<Stored<V1Lease>> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}
export const eventType: ResourceType<Stored<EventsV1Event>> = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
}
export const roleBindingType: ResourceType<Stored<V1RoleBinding>> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}
export const webhookConfigurationType: ResourceType<Stored<V1MutatingWebhookConfiguration>> = {
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
    if (part === '' || part === '.' || part === '..')
      throw new Fault('Rejected', `"${part}" is not a valid name for an object or a namespace`)
  }
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const scope = namespaced && key.namespace !== undefined ? `/namespaces/${encodeURIComponent(key.namespace)}` : ''
  const name = key.name === undefined ? '' : `/${encodeURIComponent(key.name)}`
  return `${root}${scope}/${plural}${name}${subresource === undefined ? '' : `/${subresource}`}`
}
