/**
 * The props that the constructs of one installation share.
 */
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'

/** `version` is the default tag of both images. */
export type SharedProps = { names: Names; values: Values; version: string }
