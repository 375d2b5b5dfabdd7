/**
 * Which commits a clean-up of the mirrors must keep: those that a GatewaySync wants, publishes or published, and those that gateways report.
 * Every replica can compute them. Pure.
 */
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { type CommitHash, isCommitHash } from '../gatewaysync/values.ts'
import type { Store } from './store.ts'

/** The commits that any GatewaySync or report names. */
export function neededCommits(store: Pick<Store, 'syncs' | 'reportsOf'>): ReadonlySet<string> {
  const needed = new Set<string>()
  for (const { namespace, name, status } of store.syncs()) {
    for (const commit of keptCommits(status)) needed.add(commit)
    for (const { status: reported } of store.reportsOf(namespace, name)) {
      if (reported?.commit !== undefined && isCommitHash(reported.commit)) needed.add(reported.commit)
    }
  }
  return needed
}

/** The commits that are or were published, and the one that is wanted. */
export function keptCommits(status: GatewaySyncStatus): CommitHash[] {
  return distinctHashes([status.source?.commit, ...publishedCommits(status)])
}

/** The commits that delivery may serve: the published one, and earlier ones in the history. */
export function publishedCommits(status: GatewaySyncStatus): CommitHash[] {
  const earlier = (status.history ?? []).filter(({ outcome }) => outcome === 'Published').map(({ commit }) => commit)
  // What gateways keep until their turn comes outlives a history of many pushes, and so does what was rolled back.
  return distinctHashes([status.published?.commit, status.rollout?.before?.commit, status.rollout?.refused?.commit, ...earlier])
}

function distinctHashes(commits: readonly (string | undefined)[]): CommitHash[] {
  return [...new Set(commits)].filter((commit) => commit !== undefined).filter(isCommitHash)
}
