/**
 * What the constructs of one installation share.
 */
import type { Names } from './names.ts'
import type { Values } from './values.ts'

/** `version` is the default tag of both images. */
export type Installation = { names: Names; values: Values; version: string }
