/**
 * How a fact is told that could not be had. Pure.
 */
import type { Looked } from './facts.ts'
import type { Finding, SectionId } from './report.ts'

/** What may not be looked at is said, and is no fault of the installation. */
export function looked<Value>(section: SectionId, fact: Looked<Value>, judge: (value: Value) => Finding[]): Finding[] {
  if (fact.kind === 'seen') return judge(fact.value)
  const advice = fact.kind === 'refused' ? 'Run the check with the rights of an administrator to see this too.' : undefined
  const text = `not looked at: ${fact.message}`
  return [{ section, level: 'warning', text, ...(advice === undefined ? {} : { advice }) }]
}
