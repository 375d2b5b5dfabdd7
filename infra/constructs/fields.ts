/**
 * Fields of an object that cdk8s-plus cannot express, or that a user writes as the API has them.
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
 * Lets patches set any field, as the API spells it. The classes of cdk8s-plus and of `cdk8s import` apply patches first and then map the fields
 * that they know, in a spelling of their own, which drops everything else: a field that is newer than the classes, a quantity, a named port.
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
