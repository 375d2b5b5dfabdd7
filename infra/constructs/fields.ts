/**
 * Sets fields of an object that cdk8s-plus does not support, and values in the format of the Kubernetes API.
 */
import { ApiObject, JsonPatch } from 'cdk8s'
import type { IConstruct } from 'constructs'

type Transform = (manifest: unknown) => unknown

/** What changes the final manifest of an object, in this order. */
const transforms = new WeakMap<ApiObject, Transform[]>()

/** Sets fields by pointer. Empty strings, lists and objects are left out. */
export function setFields(construct: IConstruct, fields: Readonly<Record<string, unknown>>): void {
  for (const [pointer, value] of Object.entries(fields))
    if (!isEmpty(value))
      addTransform(
        construct,
        set(pointer, () => value),
      )
}

/** Appends elements to a list by its pointer. */
export function appendTo(construct: IConstruct, list: string, elements: readonly unknown[]): void {
  for (const element of elements)
    addTransform(
      construct,
      set(`${list}/-`, () => element),
    )
}

/**
 * Merges a value into a field by pointer, so that it applies in addition to what methods of the construct set there, such as those of
 * `scheduling`: objects are merged, and lists are concatenated.
 */
export function addToField(construct: IConstruct, pointer: string, value: object): void {
  if (!isEmpty(value))
    addTransform(
      construct,
      set(pointer, (present) => combined(present, value)),
    )
}

function addTransform(construct: IConstruct, transform: Transform): void {
  patchable(ApiObject.of(construct)).push(transform)
}

/**
 * Sets a field. The pointer is a JSON pointer, in which elements of lists may also have their names: `/containers/controller`. `valueOf` returns
 * the new value for the present one.
 */
function set(pointer: string, valueOf: (present: unknown) => unknown): Transform {
  return (manifest) => {
    let present = manifest
    const members = pointer
      .split('/')
      .slice(1)
      .map((member) => {
        const index = Array.isArray(present) ? present.findIndex((element: { name?: unknown }) => element.name === member) : -1
        const found = index < 0 ? member : String(index)
        present = (present as Record<string, unknown> | undefined)?.[found]
        return `/${found}`
      })
    return JsonPatch.apply(manifest, JsonPatch.add(members.join(''), valueOf(present))) as unknown
  }
}

function combined(present: unknown, added: unknown, member = ''): unknown {
  if (Array.isArray(present) && Array.isArray(added)) {
    // A node needs to match only one term, so each existing term is combined with each added one.
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
 * quantities and named ports are lost. Objects that an app creates, such as the Ingress of `exposeViaIngress`, keep the behavior of cdk8s.
 * Returns the object's list of transforms, to which each patch is added.
 */
export function patchable(object: ApiObject): Transform[] {
  const known = transforms.get(object)
  if (known !== undefined) return known
  const added: Transform[] = []
  transforms.set(object, added)
  const toJson = object.toJson.bind(object)
  object.addJsonPatch = (...patches) => void added.push((manifest) => JsonPatch.apply(manifest, ...patches) as unknown)
  object.toJson = () => {
    const manifest: unknown = toJson()
    try {
      return added.reduce((result, transform) => transform(result), manifest)
    } catch (error) {
      // The message of cdk8s, which names the construct.
      throw new Error(`Failed serializing construct at path '${object.node.path}' with name '${object.name}': ${String(error)}`, {
        cause: error,
      })
    }
  }
  return added
}

export function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}
