/**
 * Determines which commits a mirror cleanup must keep: desired, published, earlier published, and reported by gateways. Every replica can
 * compute them. Pure.
 */
import type { Digest } from '../../api/artifact-revision.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import { type CommitHash, isCommitHash } from '../../api/values.ts'
import { artifactDigestOf } from '../decide/artifact-digest.ts'
import type { Store } from '../store/store.ts'

/** Returns the commits that any GatewaySync or report names. */
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

/** Returns the commits that are or were published, and the desired one. */
export function keptCommits(status: GatewaySyncStatus): CommitHash[] {
  return distinctHashes([status.source?.commit, ...publishedCommits(status)])
}

/** Returns the commits that the content server may serve: the published one, and earlier ones in the history. */
export function publishedCommits(status: GatewaySyncStatus): CommitHash[] {
  const earlier = (status.history ?? []).filter(({ outcome }) => outcome === 'Published').map(({ commit }) => commit)
  // A commit that gateways keep until they are admitted may be older than the history, and so may a rolled-back one.
  return distinctHashes([status.published?.commit, status.rollout?.previous?.commit, status.rollout?.refused?.commit, ...earlier])
}

/** Returns the digest of the artifact that a commit was made from, if a status names both. */
export function digestOfCommit(store: Pick<Store, 'syncs'>, commit: CommitHash): Digest | undefined {
  for (const { status } of store.syncs()) {
    const digest = artifactDigestOf(status, commit)
    if (digest !== undefined) return digest
  }
  return undefined
}

function distinctHashes(commits: readonly (string | undefined)[]): CommitHash[] {
  return [...new Set(commits)].filter((commit) => commit !== undefined).filter(isCommitHash)
}
