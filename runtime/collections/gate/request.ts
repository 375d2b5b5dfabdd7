/**
 * What the gate is asked, and the key under which its verdict is remembered. A file of its own, for the controller knows verdicts and has none of
 * the checks. Pure.
 */
import { canonicalJson } from '../../gatewaysync/canonical-json.ts'
import type { ResolvedProfile } from '../../gatewaysync/decide/profile.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import { type CommitHash, foldName } from '../../gatewaysync/values.ts'
import { coverageKey } from './coverage.ts'

/** One question to the gate. */
export type GateRequest = {
  /** Every profile of the GatewaySync. */
  profiles: readonly ResolvedProfile[]
  validation: GatewaySyncSpec['validation']
  /** Modes that gateways report; undefined: none is known, so every mode counts. */
  modesInUse: readonly string[] | undefined
  commit: CommitHash
  /** Commits of one line resemble each other: what was learned of one is used for the next. Say a repository and a branch. */
  line: string
}

/** What decides a verdict besides the rules of this version: content, what of it is delivered, severities, modes. */
export function verdictKey({ profiles, validation, modesInUse, commit }: GateRequest): string {
  const modes = modesInUse === undefined ? 'any' : [...new Set(modesInUse.map(foldName))].toSorted()
  return canonicalJson({ commit, modes, rules: validation.rules, delivered: profiles.map(coverageKey) })
}
