/**
 * What a rollback goes back to. Pure.
 */
import { Fault } from '../fault.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { isCommitHash, shortCommit } from '../gatewaysync/values.ts'

type History = NonNullable<GatewaySyncStatus['history']>
type Facts = { namespace: string; name: string; specRef: string; status: GatewaySyncStatus }

/** Fewer digits say too little about what somebody means. */
const leastDigits = 7

/**
 * `ref` is what `spec.git.ref` becomes: without `to` the commit that was published before the present one; with it a commit of the history by
 * its first digits, a whole hash, or any other ref as it is. `notes` say how to come back. Throws InvalidConfiguration, naming what there is.
 */
export function rollbackTarget({ namespace, name, specRef, status }: Facts, to: string | undefined): { ref: string; notes: string[] } {
  const ref = to === undefined ? commitBefore(status) : commitMeant(status.history ?? [], to)
  const back = `Follow ${specRef} again: cluster-sync rollback ${name} -n ${namespace} --to ${specRef}`
  const isFixed = isCommitHash(ref) && !isCommitHash(specRef)
  const stays = `Pushes to ${specRef} move nothing until then. Where another tool applies this GatewaySync (GitOps), set spec.git.ref there too.`
  return { ref, notes: ref === specRef ? [] : isFixed ? [back, stays] : [back] }
}

function commitBefore({ history = [], published }: GatewaySyncStatus): string {
  const before = history.find(({ outcome, commit }) => outcome === 'Published' && commit !== published?.commit)
  if (before !== undefined) return before.commit
  throw new Fault('InvalidConfiguration', 'no other commit was published before; name one with --to <commit>')
}

function commitMeant(history: History, to: string): string {
  if (isCommitHash(to) || !/^[0-9a-f]+$/.test(to) || to.length < leastDigits) return to
  const found = [...new Set(history.map(({ commit }) => commit).filter((commit) => commit.startsWith(to)))]
  const [commit] = found
  if (found.length === 1 && commit !== undefined) return commit
  const known = [...new Set(history.filter(({ outcome }) => outcome === 'Published').map(({ commit }) => shortCommit(commit)))]
  const there = known.length === 0 ? 'the history is empty' : `the history has ${known.join(', ')}`
  const what = found.length === 0 ? 'no commit' : 'several commits'
  throw new Fault(
    'InvalidConfiguration',
    `--to: ${what} of the history begins with "${to}"; ${there}; a commit that is not in it needs its whole hash`,
  )
}
