/**
 * The names and values that the constructs of one installation share.
 */
import type { Live, Value } from '../helm/expression.ts'
import { type LiveRelease, type Names, namesOf } from '../names.ts'
import type { Values } from '../values.ts'

/** Each value is known, or an expression that Helm will evaluate. */
export type Installation = { names: Names; values: Live<Values>; version: Value<string> }

/** What all constructs share: the names of the release, its values, and the version of the app, which is the tag of its images. */
export function installationOf(release: LiveRelease, values: Live<Values>, version: Value<string>): Installation {
  return { names: namesOf(release, values, version), values, version }
}
