/**
 * Where the runbook says what to do about a reason. Pure.
 */
import { reasons } from '../fault.ts'

/** Undefined for a word that tells of no fault. */
export function runbookEntry(reason: string | undefined): string | undefined {
  return reason !== undefined && Object.hasOwn(reasons, reason) ? `docs/runbook.md#${reason.toLowerCase()}` : undefined
}
