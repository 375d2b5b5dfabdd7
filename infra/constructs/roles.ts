/**
 * Helpers for RBAC objects.
 */
import { ApiObject, type ApiObjectMetadata, JsonPatch } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import type { Construct } from 'constructs'
import { group } from '../../runtime/api/names.ts'

/** One of the operator's custom resources, or a subresource of one. */
export function customResource(resourceType: string): kplus.ApiResource {
  return kplus.ApiResource.custom({ apiGroup: group, resourceType })
}

/** One object by name, which `kplus.ApiResource` cannot express: it always stands for all objects of a resource. */
export function named({ apiGroup, resourceType }: kplus.ApiResource, resourceName: string): kplus.IApiResource & kplus.IApiEndpoint {
  const resource = { apiGroup, resourceType, resourceName }
  return { ...resource, asApiResource: () => resource, asNonApiResource: () => undefined }
}

export function createClusterRole(
  scope: Construct,
  id: string,
  metadata: ApiObjectMetadata,
  rules: kplus.ClusterRolePolicyRule[],
): kplus.ClusterRole {
  const role = new kplus.ClusterRole(scope, id, { metadata, rules })
  // cdk8s-plus writes one rule for each endpoint, with `resourceNames: []` for all objects of a resource, which looks like "no objects".
  for (const [index, endpoint] of rules.flatMap(({ endpoints }) => endpoints).entries()) {
    const resource = endpoint.asApiResource()
    if (resource !== undefined && resource.resourceName === undefined)
      ApiObject.of(role).addJsonPatch(JsonPatch.remove(`/rules/${index}/resourceNames`))
  }
  return role
}

export function addSubject(binding: kplus.ClusterRoleBinding | kplus.RoleBinding, account: kplus.IServiceAccount): void {
  binding.addSubjects(account)
  // cdk8s-plus writes `apiGroup: ''`, which the API server does not store: each apply would change the binding again.
  ApiObject.of(binding).addJsonPatch(JsonPatch.remove('/subjects/0/apiGroup'))
}
