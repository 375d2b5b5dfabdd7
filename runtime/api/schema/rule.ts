/**
 * Defines a rule in one place: what valibot checks at run time, and the CEL expression that the API server checks at admission.
 * infra/crd.ts reads both kinds of additions, `rule` and `crd`, from the schemas. Pure.
 */
import * as v from 'valibot'

/** An entry of `x-kubernetes-validations`. */
export type CelRule = { rule: string; message: string }

type ObjectSchemaWords = Readonly<Record<string, unknown>>

const celRules = new WeakMap<object, CelRule>()

/** A check by both valibot and the API server. `cel` is CEL over `self`; `holds` is the same in TypeScript. */
export function rule<Value>(message: string, cel: string, holds: (value: Value) => boolean): v.CheckAction<Value, string> {
  const action = v.check<Value, string>(holds, message)
  celRules.set(action, { rule: cel, message })
  return action
}

/** Returns the CEL rule of a pipe item, if any; it becomes an entry of `x-kubernetes-validations`. */
export function celRuleOf(item: object): CelRule | undefined {
  return celRules.get(item)
}

/** A list whose items are identified by this key. The API server refuses duplicates, and merges the items of several owners. */
export function listMap<Item>(key: keyof Item & string): v.MetadataAction<Item[], { crd: ObjectSchemaWords }> {
  return crd({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })
}

/** A list without duplicates: the API server merges the items of several owners. Use it with `isSet`. */
export function listSet<Item>(): v.MetadataAction<Item[], { crd: ObjectSchemaWords }> {
  return crd({ 'x-kubernetes-list-type': 'set' })
}

/** The check of the API server for a list of type `set`. */
export function isSet<Item>(): v.CheckAction<Item[], string> {
  return v.check((items) => new Set(items).size === items.length, 'must not contain duplicates')
}

/** Keywords of the CRD's schema that valibot cannot express, merged over the generated ones; undefined removes a keyword. */
export function crd<Value>(words: ObjectSchemaWords): v.MetadataAction<Value, { crd: ObjectSchemaWords }> {
  return v.metadata<Value, { crd: ObjectSchemaWords }>({ crd: words })
}
