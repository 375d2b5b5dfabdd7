/**
 * Selects the capture offers to accept, parses their edits, and collects what a capture commit needs.
 */
import { acceptChanges, type AcceptedEdit } from '../../capture/submit/accept.ts'
import type { Clock } from '../../platform/clock.ts'
import type { CaptureOffer } from '../../content/protocol/protocol.ts'
import { requirePublished } from '../../content/server/published.ts'
import { Fault } from '../../platform/fault.ts'
import type { IsolatedValidator } from '../../validation/worker/isolated-validation.ts'
import { defaultBranch, followedRef, isTagSelector } from '../../api/followed-ref.ts'
import { captureRequest, concerns, driftRequest } from '../../reconcile/decide/capture.ts'
import { resolveProfile } from '../../api/schema/profile.ts'
import { resolvedRefOf } from '../../reconcile/decide/request.ts'
import { gatewayNameOf, podAnnotations } from '../../api/names.ts'
import type { CaptureEntry } from '../../api/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { type CommitHash, isCommitHash, shortRef } from '../../api/values.ts'
import type { SyncMirrors } from '../../reconcile/source/mirrors-of-syncs.ts'
import { publishedCommits } from '../../reconcile/source/needed-commits.ts'
import type { GatewaySyncRecord } from '../../reconcile/store/records.ts'
import type { Store } from '../../reconcile/store/store.ts'
import type { RemoteOf } from '../../git/remotes.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import type { Temporal } from '../../platform/temporal.ts'

/** Collaborators of a capture. */
export type WorkDeps = { mirrors: SyncMirrors; remoteOf: RemoteOf; validator: Pick<IsolatedValidator, 'validate'>; clock: Clock }

/** Returns the branch that a GatewaySync follows; undefined for tags, a commit, or an unknown default branch. */
export function followedBranch({ status }: Pick<GatewaySyncRecord, 'status'>, { git }: GatewaySyncSpec): string | undefined {
  const followed = followedRef(git)
  const ref = followed === defaultBranch ? resolvedRefOf(followed, status) : followed
  if (ref === undefined || isTagSelector(ref) || isCommitHash(ref)) return undefined
  if (ref.startsWith('refs/heads/')) return shortRef(ref)
  return ref.startsWith('refs/') ? undefined : ref
}

/** A gateway whose changes are requested. */
export type RequestedCapture = {
  record: GatewaySyncRecord
  spec: GatewaySyncSpec
  capture: NonNullable<GatewaySyncSpec['capture']>
  pod: string
  gateway: string
}

/** How long after a request was first seen a gateway may begin to answer it. */
const answeredWithinMs = 3_600_000
const plainCredential = 'plain-credential'

/** Returns the request whose changes are captured: an explicit one, or with `trigger: Drift` an automatic one; undefined: neither. */
export function requestOf(
  store: Store,
  { namespace, name }: { namespace: string; name: string },
  pod: string,
  offer: CaptureOffer,
): RequestedCapture | undefined {
  const record = store.sync(namespace, name)
  const spec = specOf(record)
  const capture = spec?.capture
  if (record === undefined || spec === undefined || capture === undefined || !capture.enabled) return undefined
  const request = captureRequest(record.annotations)
  const annotations = store.pod(namespace, pod)?.annotations ?? {}
  const gateway = gatewayNameOf({ name: pod, annotations })
  const isRequested = request !== undefined && request.id === offer.request && concerns(request, { pod, gateway })
  const isQuiet = capture.trigger === 'Drift' && offer.files > 0 && offer.request === driftRequest(offer.digest)
  if (!isRequested && !isQuiet) return undefined
  if ((annotations[podAnnotations.profile] ?? 'default') !== offer.profile)
    throw new Fault('PayloadMalformed', `pod "${pod}" does not follow profile "${offer.profile}"`)
  return { record, spec, capture, pod, gateway }
}

/** Whether a request is too old for gateways that have not answered: a pod may appear weeks later. */
export function isOver({ status: { capture } }: GatewaySyncRecord, request: string, now: Temporal.Instant): boolean {
  if (capture?.request !== request || capture.at === undefined) return false
  return now.epochMilliseconds - Date.parse(capture.at) > answeredWithinMs
}

/**
 * Returns the edits of an offer; undefined if it holds none yet. Throws CommitNotPublished, UnknownProfile, PayloadMalformed and
 * PayloadTooLarge.
 */
export function acceptOffer(
  { record, spec }: RequestedCapture,
  { commit, profile, changes, digest }: CaptureOffer,
): AcceptedEdit[] | undefined {
  const commits = new Set<string>(publishedCommits(record.status))
  requirePublished({ commits, hasProfile: (named) => Object.hasOwn(spec.sync.profiles, named) }, commit, profile)
  return changes === undefined ? undefined : acceptChanges(changes, digest, resolveProfile(spec.sync, profile))
}

/** Returns the initial pull-request state of an entry. */
export function waitingFor({ capture }: RequestedCapture): Pick<CaptureEntry, 'pullRequest'> {
  return capture.pullRequest ? { pullRequest: { state: 'Waiting' } } : {}
}

/** Collects what is needed to create, validate and push a commit. */
export async function workOf(
  { mirrors, remoteOf, validator, clock }: WorkDeps,
  { record, spec }: Pick<RequestedCapture, 'record' | 'spec'>,
  signal: AbortSignal,
) {
  const { namespace, name } = record
  const mirror = await mirrors.of({ namespace, name, spec }, signal)
  return {
    mirror,
    clock,
    pushAs: (own: AbortSignal) => remoteOf(namespace, { ...spec.git, auth: spec.capture?.auth }, own),
    validate: (commit: CommitHash, own: AbortSignal) => {
      const { policy, rules } = spec.validation
      const request = {
        profiles: Object.keys(spec.sync.profiles).map((profile) => resolveProfile(spec.sync, profile)),
        // A credential in a branch stays in the history of the repository, so it is an error regardless of the policy for normal commits.
        validation: { policy: policy === 'Off' ? ('Warn' as const) : policy, rules: { ...rules, [plainCredential]: 'error' as const } },
        modesInUse: undefined,
        commit,
        line: `${spec.git.repo} ${followedRef(spec.git)}`,
      }
      return mirror.readBy(commit, (repository) => validator.validate(repository, request, { namespace, again: false }, own), own)
    },
  }
}
