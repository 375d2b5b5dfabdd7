/**
 * Sets fields of an object that cdk8s-plus does not support, and values in the format of the Kubernetes API.
 */
import { ApiObject, JsonPatch } from 'cdk8s'
import type { IConstruct } from 'constructs'

/** Sets fields by JSON pointer. Empty strings, lists and objects are left out. */
export function setFields(construct: IConstruct, fields: Readonly<Record<string, unknown>>): void {
  const present = Object.entries(fields).filter(([, value]) => !isEmpty(value))
  patchable(ApiObject.of(construct)).addJsonPatch(...present.map(([pointer, value]) => JsonPatch.add(pointer, value)))
}

/** Appends elements to a list by its JSON pointer. */
export function appendTo(construct: IConstruct, list: string, elements: readonly unknown[]): void {
  patchable(ApiObject.of(construct)).addJsonPatch(...elements.map((element) => JsonPatch.add(`${list}/-`, element)))
}

/**
 * Merges a value into a field by JSON pointer, so that it applies in addition to what methods of the construct set there, such as those of
 * `scheduling`: objects are merged, and lists are concatenated.
 */
export function addToField(construct: IConstruct, pointer: string, value: object): void {
  if (isEmpty(value)) return
  const object = ApiObject.of(construct)
  const toJson = object.toJson.bind(object)
  object.toJson = () => {
    const json: unknown = toJson()
    const present = pointer
      .split('/')
      .slice(1)
      .reduce((at, member) => (at as Record<string, unknown> | undefined)?.[member], json)
    return JsonPatch.apply(json, JsonPatch.add(pointer, combined(present, value))) as unknown
  }
}

function combined(present: unknown, added: unknown, member = ''): unknown {
  if (Array.isArray(present) && Array.isArray(added)) {
    // A node must match only one of the terms, so each present term is combined with each added one.
    if (member === 'nodeSelectorTerms') return present.flatMap((one) => added.map((other) => combined(one, other)))
    return [...(present as unknown[]), ...(added as unknown[])]
  }
  if (typeof present !== 'object' || present === null || typeof added !== 'object' || added === null) return added
  const members = Object.entries(added).map(([name, value]) => [name, combined((present as Record<string, unknown>)[name], value, name)])
  return { ...present, ...(Object.fromEntries(members) as object) }
}

/**
 * Applies JSON patches to the final manifest, so that they can set any field of the Kubernetes API. By default, the classes of cdk8s-plus
 * and of `cdk8s import` apply patches to their props, and then convert only the fields that they know: fields of newer Kubernetes versions,
 * quantities and named ports are lost. Each call wraps the object again, so that later patches apply to the result of earlier ones. Objects
 * that an app creates, such as the Ingress of `exposeViaIngress`, keep the behavior of cdk8s.
 */
export function patchable(object: ApiObject): ApiObject {
  const toJson = object.toJson.bind(object)
  const patches: JsonPatch[] = []
  object.addJsonPatch = (...more) => void patches.push(...more)
  object.toJson = () => JsonPatch.apply(toJson(), ...patches) as unknown
  return object
}

export function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}
