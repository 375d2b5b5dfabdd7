/**
 * The type of a row in the rules' table. Pure.
 */

/** An error keeps a commit from being published where `spec.validation` enforces the checks; a warning never does. */
export type Severity = 'error' | 'warning'
/** `off`: nothing is reported unless a setting raises it. */
export type Level = Severity | 'off'

export type Rule = {
  /** An error only where a gateway does not start or a resource is lost. */
  severity: Level
  /** What is wrong, as a fact. */
  title: string
  /** Why it matters: what a gateway does. */
  why: string
  /** What to do; also the `help` of each finding. */
  fix: string
  /** The kind of evidence, and the evidence itself. */
  evidence: `${'Documented' | 'Observed' | 'Reported' | 'By definition' | 'Assumed'}: ${string}`
}
