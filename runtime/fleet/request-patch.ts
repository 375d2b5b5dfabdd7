/**
 * Builds the merge patches of requests to a GatewaySync, for the CLI and the status page, and finds the ref to roll back to. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { supersededBy } from '../reconcile/decide/request.ts'
import { sourceOfArtifact } from '../api/schema/oci-spec.ts'
import { artifactDigestOf } from '../reconcile/decide/artifact-digest.ts'
import { artifactMembersFor, type FollowedRef, followedRef, membersFor, isVersionRange } from '../api/followed-ref.ts'
import { type confirmDeletionsAnnotation, type confirmOverwritesAnnotation, requestAnnotations } from '../api/names.ts'
import { isCommitHash, shortCommit } from '../api/values.ts'
import type { SyncFacts } from './facts.ts'
import { rolloutActionRequest, type RolloutActionRequest } from './rollout-action.ts'
import { digestIn, isDigest, shortRevision } from '../api/artifact-revision.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { named, type NamedSync, shellWord } from './steps.ts'

/** A merge patch (RFC 7386); null removes an annotation. */
export type Change = {
  spec?: { paused?: boolean; git?: ReturnType<typeof membersFor>; oci?: ReturnType<typeof artifactMembersFor> }
  metadata?: { annotations: Record<string, string | null> }
}

/** `by`: at most 128 characters; `at`: RFC 3339. */
export type Who = { by: string; at: string }

/** Requests a ref; `id` identifies the outcome. */
export function refRequestPatch(sync: SyncFacts, { ref, id }: { ref: string; id: string }, { by, at }: Who): Change {
  const annotations = {
    [requestAnnotations.ref]: ref,
    [requestAnnotations.at]: at,
    [requestAnnotations.by]: by,
    [requestAnnotations.id]: id,
    [requestAnnotations.specRef]: specRefOf(sync.spec),
  }
  const superseded = supersededBy(annotations, sync.annotations, sync.status, [])
  return { metadata: { annotations: { ...annotations, [requestAnnotations.superseded]: superseded, [requestAnnotations.move]: null } } }
}

/** Pauses or resumes a GatewaySync. Resuming also resumes a stopped rollout; `resumed` describes that request. */
export function pausePatch(sync: SyncFacts, paused: boolean, who: Who): { change: Change; resumed: RolloutActionRequest | undefined } {
  const { state } = sync.status.rollout ?? {}
  const isOver = state !== 'Stopped' && state !== 'RolledBack'
  const resumed = paused || isOver ? undefined : rolloutActionRequest(sync, { verb: 'resume' }, who)
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
export function followRefPatch({ spec, status }: Pick<SyncFacts, 'spec' | 'status'>, ref: string): { ref: string; change: Change } {
  if (sourcesOf(spec).oci === undefined) return { ref, change: { spec: { git: membersFor(ref) } } }
  const followed = isCommitHash(ref) ? artifactDigestOf(status, ref) : ref
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
  const field = artifactDigestOf(status, ref) === undefined ? 'spec.git.ref' : 'spec.oci.digest'
  const stays = `Until then, pushes to ${specRef} have no effect. If a GitOps tool manages this GatewaySync, set ${field} there too.`
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
