/**
 * Determines the ref to roll back to. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { digestIn, isDigest, shortRevision } from '../api/artifact-revision.ts'
import { followedRef, isVersionRange } from '../api/followed-ref.ts'
import { digestNamed } from '../reconcile/decide/artifact-digest.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { isCommitHash } from '../api/values.ts'
import { named, type NamedSync, shellWord } from './named-sync.ts'

type History = NonNullable<GatewaySyncStatus['history']>
type RollbackInput = NamedSync & { specRef: string; status: GatewaySyncStatus }

/** A shorter prefix is too ambiguous. */
const minDigits = 7

/**
 * `ref` is the new value of `spec.git.ref`: without `to` the previously published commit; with `to` a commit of the history by hash prefix, a full
 * hash, or any other ref unchanged. `notes` explain how to undo the rollback. Throws InvalidConfiguration that lists the available commits.
 */
export function rollbackTarget({ specRef, status, ...sync }: RollbackInput, to: string | undefined): { ref: string; notes: string[] } {
  const ref = to === undefined ? commitBefore(status) : commitMeant(status.history ?? [], to)
  const back = `Follow ${specRef} again: cluster-sync rollback ${named(sync)} --to ${shellWord(specRef)}`
  const isFixed = isCommitHash(ref) && !isCommitHash(specRef) && !isDigest(specRef)
  const field = digestNamed(status, ref) === undefined ? 'spec.git.ref' : 'spec.oci.digest'
  const stays = `Until then, pushes to ${specRef} have no effect. If another tool applies this GatewaySync (GitOps), set ${field} there too.`
  return { ref, notes: ref === specRef ? [] : isFixed ? [back, stays] : [back] }
}

function commitBefore({ history = [], published }: GatewaySyncStatus): string {
  const before = history.find(({ outcome, commit }) => outcome === 'Published' && commit !== published?.commit)
  if (before !== undefined) return before.commit
  throw new Fault('InvalidConfiguration', 'no other commit was published before; specify one with --to <commit>')
}

function commitMeant(history: History, to: string): string {
  const [, range] = /^semver:(.*)$/s.exec(to) ?? []
  if (range !== undefined) {
    if (isVersionRange(range)) return followedRef({ semver: range })
    throw new Fault('InvalidConfiguration', `--to: "${range}" is not a SemVer range such as ">=1.2 <2" or "~1.4", with at most 8 ||`)
  }
  if (isCommitHash(to) || !/^[0-9a-f]+$/.test(to) || to.length < minDigits) return to
  const named = history.filter(({ commit, ref }) => [commit, digestIn(ref)?.slice('sha256:'.length)].some((hash) => hash?.startsWith(to)))
  const found = [...new Set(named.map(({ commit }) => commit))]
  const [commit] = found
  if (found.length === 1 && commit !== undefined) return commit
  const known = [...new Set(history.filter(({ outcome }) => outcome === 'Published').map(({ commit, ref }) => shortRevision(commit, ref)))]
  const there = known.length === 0 ? 'the history is empty' : `the history has ${known.join(', ')}`
  const what = found.length === 0 ? 'no commit' : 'several commits'
  throw new Fault(
    'InvalidConfiguration',
    `--to: ${what} of the history begins with "${to}"; ${there}; for a commit that is not in the history, give the full hash`,
  )
}
