/**
 * Fields of `spec.git` that ask for trust and that nothing honours yet. A commit is not published in spite of what somebody asked for,
 * so a spec that sets one is refused until the field does what it says. Pure.
 */
import type { GatewaySyncSpec } from './spec.ts'

/** The first field that is set and not honoured, as a path from `spec`; undefined when the whole of `spec.git` is honoured. */
export function unsupportedField({ auth }: GatewaySyncSpec['git']): string | undefined {
  if (auth?.githubApp !== undefined) return 'spec.git.auth.githubApp'
  return undefined
}
