/**
 * The props of all constructs of an installation.
 */
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'

/** `version` is the default tag of both images, and the value of the label `app.kubernetes.io/version`. */
export type SharedProps = { names: Names; values: Values; version: string }
