/**
 * Sums up the findings of the collection checks in one sentence. Pure.
 */
import { counted } from '../../counted.ts'
import type { StatusFinding } from '../schema/status.ts'

/** `2 errors in the resource collections, first: <path>: <message> (<rule>)`. */
export function describeErrors({ errors, items }: { errors: number; items: readonly StatusFinding[] }): string {
  const first = items.find(({ severity }) => severity === 'error')
  const example = first === undefined ? '' : `, first: ${first.path}: ${first.message} (${first.rule})`
  return `${counted(errors, 'error')} in the resource collections${example}`
}
