/**
 * Which offers of agents are asked for, what they hold, and what a commit of them is made, checked and pushed with.
 */
import { acceptChanges, type TakenEdit } from '../../capture/accept.ts'
import type { Clock } from '../../clock.ts'
import type { CaptureOffer } from '../../delivery/protocol.ts'
import { requirePublished } from '../../delivery/published.ts'
import { Fault } from '../../fault.ts'
import type { IsolatedGate } from '../../gate/isolate.ts'
import { captureRequest, concerns, driftRequest, gatewayNameOf } from '../../gatewaysync/decide/capture.ts'
import { resolveProfile } from '../../gatewaysync/decide/profile.ts'
import { podAnnotations } from '../../gatewaysync/names.ts'
import type { CaptureEntry } from '../../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import type { CommitHash } from '../../gatewaysync/values.ts'
import type { SyncMirrors } from '../../reconcile/mirrors-of-syncs.ts'
import { publishedCommits } from '../../reconcile/needed-commits.ts'
import type { GatewaySyncRecord } from '../../reconcile/records.ts'
import type { Store } from '../../reconcile/store.ts'
import type { RemoteOf } from '../../source/remotes.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** What a capture is made with. */
export type WorkDeps = { mirrors: SyncMirrors; remoteOf: RemoteOf; gate: Pick<IsolatedGate, 'check'>; clock: Clock }

/** A gateway whose changes somebody asks for. */
export type Asked = {
  record: GatewaySyncRecord
  spec: GatewaySyncSpec
  capture: NonNullable<GatewaySyncSpec['capture']>
  pod: string
  gateway: string
}

/** So long after a request was first seen a gateway may begin to answer it. */
const answeredWithinMs = 3_600_000
const plainCredential = 'plain-credential'

/** Whose changes are taken: those that somebody asks for, and with `on: Drift` those that were left alone; undefined: neither. */
export function askedBy(
  store: Store,
  { namespace, name }: { namespace: string; name: string },
  pod: string,
  offer: CaptureOffer,
): Asked | undefined {
  const record = store.sync(namespace, name)
  const spec = record === undefined ? undefined : specOf(record)
  const capture = spec?.capture
  if (record === undefined || spec === undefined || capture === undefined || !capture.enabled) return undefined
  const request = captureRequest(record.annotations)
  const annotations = store.pod(namespace, pod)?.annotations ?? {}
  const gateway = gatewayNameOf({ name: pod, annotations })
  const isAsked = request !== undefined && request.id === offer.request && concerns(request, { pod, gateway })
  const isQuiet = capture.on === 'Drift' && offer.files > 0 && offer.request === driftRequest(offer.digest)
  if (!isAsked && !isQuiet) return undefined
  if ((annotations[podAnnotations.profile] ?? 'default') !== offer.profile)
    throw new Fault('PayloadMalformed', `pod "${pod}" does not follow profile "${offer.profile}"`)
  return { record, spec, capture, pod, gateway }
}

/** Whether a request is so old that whoever asked no longer waits for gateways that have not answered: a pod may come weeks later. */
export function isOver({ status: { capture } }: GatewaySyncRecord, request: string, now: Temporal.Instant): boolean {
  if (capture?.request !== request || capture.at === undefined) return false
  return now.epochMilliseconds - Date.parse(capture.at) > answeredWithinMs
}

/**
 * The edits that an offer holds; undefined where it holds none yet. Throws CommitNotPublished, UnknownProfile, PayloadMalformed and
 * PayloadTooLarge.
 */
export function acceptOffer({ record, spec }: Asked, { commit, profile, changes, digest }: CaptureOffer): TakenEdit[] | undefined {
  const commits = new Set<string>(publishedCommits(record.status))
  requirePublished({ commits, hasProfile: (named) => Object.hasOwn(spec.sync.profiles, named) }, commit, profile)
  return changes === undefined ? undefined : acceptChanges(changes, digest, resolveProfile(spec.sync, profile))
}

/** What an entry says of its pull request at first. */
export function waitingFor({ capture }: Asked): Pick<CaptureEntry, 'pullRequest'> {
  return capture.pullRequest ? { pullRequest: { state: 'Waiting' } } : {}
}

/** What a commit is made, checked and pushed with. */
export async function workOf(
  { mirrors, remoteOf, gate, clock }: WorkDeps,
  { record, spec }: Pick<Asked, 'record' | 'spec'>,
  signal: AbortSignal,
) {
  const { namespace, name } = record
  const mirror = await mirrors.of({ namespace, name, spec }, signal)
  return {
    mirror,
    clock,
    pushAs: (own: AbortSignal) => remoteOf(namespace, { ...spec.git, auth: spec.capture?.auth }, own),
    check: (commit: CommitHash, own: AbortSignal) => {
      const { policy, rules } = spec.validation
      const request = {
        profiles: Object.keys(spec.sync.profiles).map((profile) => resolveProfile(spec.sync, profile)),
        // A credential in a branch stays in the history of the repository, whatever the policy says of commits that people made.
        validation: { policy: policy === 'Off' ? ('Warn' as const) : policy, rules: { ...rules, [plainCredential]: 'error' as const } },
        modesInUse: undefined,
        commit,
        line: `${spec.git.repo} ${spec.git.ref}`,
      }
      return mirror.readBy(commit, (repository) => gate.check(repository, request, false, own), own)
    },
  }
}
