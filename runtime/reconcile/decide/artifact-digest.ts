/**
 * Finds the artifact that a commit was made from: refs of artifacts in a status are revisions with a digest. Pure.
 */
import { type Digest, digestIn } from '../../api/artifact-revision.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'

/** Returns the digest of the artifact that a commit was made from, if the status names both. */
export function artifactDigestOf({ source, published, rollout, history = [] }: GatewaySyncStatus, commit: string): Digest | undefined {
  const resolved = { commit: source?.commit, ref: source?.resolvedRef ?? source?.ref }
  const named = [published, rollout?.previous, rollout?.refused, ...history, resolved]
  return named.flatMap((one) => (one?.commit === commit ? (digestIn(one.ref) ?? []) : []))[0]
}
