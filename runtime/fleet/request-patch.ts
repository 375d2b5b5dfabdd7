/**
 * Builds the merge patches of requests to a GatewaySync, for the CLI and the status page. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { supersededBy } from '../reconcile/decide/request.ts'
import { sourceOfArtifact } from '../api/schema/oci-spec.ts'
import { digestNamed } from '../reconcile/decide/artifact-digest.ts'
import { artifactMembersFor, type FollowedRef, followedRef, membersFor } from '../api/followed-ref.ts'
import { type confirmDeletionsAnnotation, type confirmOverwritesAnnotation, requestAnnotations } from '../api/names.ts'
import { isCommitHash, shortCommit } from '../api/values.ts'
import type { SyncFacts } from './facts.ts'
import { askRollout, type RolloutAsked } from './rollout-action.ts'

/** A merge patch (RFC 7386); null removes an annotation. */
export type Change = {
  spec?: { paused?: boolean; git?: ReturnType<typeof membersFor>; oci?: ReturnType<typeof artifactMembersFor> }
  metadata?: { annotations: Record<string, string | null> }
}

/** `by`: at most 128 characters; `at`: RFC 3339. */
export type Who = { by: string; at: string }

/** Requests a ref; `id` identifies the outcome. */
export function askRef(sync: SyncFacts, { ref, id }: { ref: string; id: string }, { by, at }: Who): Change {
  const asked = {
    [requestAnnotations.ref]: ref,
    [requestAnnotations.at]: at,
    [requestAnnotations.by]: by,
    [requestAnnotations.id]: id,
    [requestAnnotations.specRef]: specRefOf(sync.spec),
  }
  const superseded = supersededBy(asked, sync.annotations, sync.status, [])
  return { metadata: { annotations: { ...asked, [requestAnnotations.superseded]: superseded, [requestAnnotations.move]: null } } }
}

/** Pauses or resumes a GatewaySync. Resuming also resumes a stopped rollout; `resumed` describes that request. */
export function askPause(sync: SyncFacts, paused: boolean, who: Who): { change: Change; resumed: RolloutAsked | undefined } {
  const { state } = sync.status.rollout ?? {}
  const isOver = state !== 'Stopped' && state !== 'RolledBack'
  const resumed = paused || isOver ? undefined : askRollout(sync, { verb: 'resume' }, who)
  return { change: { spec: { paused }, ...(resumed === undefined ? {} : { metadata: { annotations: resumed.annotations } }) }, resumed }
}

/**
 * Lets gateways apply a commit that they hold back. Throws InvalidConfiguration if another commit is published meanwhile, because the user confirmed
 * different changes.
 */
export function confirmCommit(
  { namespace, name, status: { published } }: Omit<SyncFacts, 'spec'>,
  annotation: typeof confirmDeletionsAnnotation | typeof confirmOverwritesAnnotation,
  commit: string,
): Change {
  if (published?.commit !== commit) {
    const now = published === undefined ? 'nothing is published' : `commit ${shortCommit(published.commit)} is published`
    throw new Fault('InvalidConfiguration', `GatewaySync "${name}" in namespace "${namespace}": ${now}, and not ${shortCommit(commit)}`)
  }
  return { metadata: { annotations: { [annotation]: commit } } }
}

/**
 * Makes a spec follow a ref, a selector or a commit of the history; `ref` is what it follows then. For an artifact, a commit is its digest.
 * Throws InvalidConfiguration for a commit whose artifact is not known.
 */
export function askFollow({ spec, status }: Pick<SyncFacts, 'spec' | 'status'>, ref: string): { ref: string; change: Change } {
  if (sourcesOf(spec).oci === undefined) return { ref, change: { spec: { git: membersFor(ref) } } }
  const followed = isCommitHash(ref) ? digestNamed(status, ref) : ref
  if (followed === undefined)
    throw new Fault('InvalidConfiguration', `the history names no artifact of commit ${shortCommit(ref)}; give the digest, sha256:…`)
  return { ref: followed, change: { spec: { oci: artifactMembersFor(followed) } } }
}

/** The ref that a stored spec follows; empty if the spec has no source. */
export function specRefOf(spec: unknown): FollowedRef | '' {
  const { git, oci } = sourcesOf(spec)
  const text = (of: Record<string, unknown>, name: string): string | undefined => (typeof of[name] === 'string' ? of[name] : undefined)
  if (git !== undefined) return followedRef({ ref: text(git, 'ref'), semver: text(git, 'semver'), tagPattern: text(git, 'tagPattern') })
  if (oci === undefined) return ''
  return followedRef(sourceOfArtifact({ url: '', tag: text(oci, 'tag'), semver: text(oci, 'semver'), digest: text(oci, 'digest') }))
}

function sourcesOf(spec: unknown): { git?: Record<string, unknown>; oci?: Record<string, unknown> } {
  return spec ?? {}
}
