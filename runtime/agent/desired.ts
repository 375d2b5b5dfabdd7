/**
 * Decides what this gateway should hold, given its GatewaySync and its pod, or why there is nothing to do. Pure.
 */
import { Fault } from '../platform/fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, gatewayNameOf, podAnnotations } from '../api/names.ts'
import { defaultProfileName, resolveProfile, type ResolvedProfile, syncHash } from '../api/schema/profile.ts'
import { type FollowedSpec, readFollowedSpec, readStartFields } from '../api/schema/followed-spec.ts'
import type { SyncReportStatus } from '../api/schema/report.ts'
import type { GatewaySyncSpec, HttpCheck } from '../api/schema/spec.ts'
import { answersSpec } from '../reconcile/decide/request.ts'
import { captureRequestId, changesRequestId, quietPeriodMs } from '../reconcile/decide/capture.ts'
import { admissionOf } from '../reconcile/rollout/stage-admission.ts'
import { isUnderWay } from '../api/schema/rollout-status.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { type CommitHash, isCommitHash, shortCommit, shortRef } from '../api/values.ts'
import { type StartSettings, startSettings, unknownStart } from './health.ts'

/** Message of a gateway that waits for the first published commit. */
export const nothingPublished = 'no commit is published yet'

/** The GatewaySync as the watch delivers it; undefined: it does not exist. */
export type FollowedSync = {
  /** Distinguishes the object from a later one with the same name. */
  uid: string
  annotations: Readonly<Record<string, string>>
  spec: unknown
  status: GatewaySyncStatus
}

/** What the data directory holds, from the last report or its own records; undefined: unknown. */
export type InPlace = Partial<Pick<SyncReportStatus, 'commit' | 'syncHash'>> | undefined

/** The pod as the downward API describes it, read at the start of each sync. */
export type PodFacts = {
  podName: string
  namespace: string
  annotations: Readonly<Record<string, string>>
  labels: Readonly<Record<string, string>>
}

/** What the agent must do; `start` sets how long the gateway's start is held meanwhile. */
export type Desired =
  /** Nothing to write; the gateway keeps its files. Blocked: needs a user's action; Pending: resolves without one. */
  | { kind: 'idle'; phase: 'Pending' | 'Blocked'; fault: Fault; start: StartSettings }
  | {
      kind: 'sync'
      commit: CommitHash
      ref: string
      profile: ResolvedProfile
      syncHash: string
      gateway: GatewaySyncSpec['gateway']
      paused: boolean
      start: StartSettings
      validation: GatewaySyncSpec['validation']
      confirmDeletions: CommitHash | undefined
      confirmOverwrites: CommitHash | undefined
      /** The last commit that every gateway had before the current rollout. */
      rolledOutBefore: string | undefined
      /** The rollout's HTTP check to run once the published commit is in place; undefined: none. */
      check: HttpCheck | undefined
      delivery: { url: string; caBundle: string }
      /** The request for the commit; undefined: the spec alone selected it. */
      requestId: string | undefined
      /** Uid of the GatewaySync; a recreated one has another. */
      uid: string
      /** The request to capture this gateway's local changes; undefined: none. */
      capture: string | undefined
      /** The request to list this gateway's local changes in the report; undefined: none. */
      changes: string | undefined
      /**
       * How many ms local changes must be stable before they are captured without a request; undefined: never. `subject`: the GatewaySync
       * and repository.
       */
      captureQuiet: { quietMs: number; subject: string } | undefined
      /**
       * Why this is not the published commit, in one sentence: the rollout has not reached this gateway; undefined: it is the published
       * commit.
       */
      waits: string | undefined
      /** Fields of the GatewaySync that this agent version does not know. */
      ignoredFields: readonly string[]
    }

/**
 * Decides from the GatewaySync (`gatewaySync`: its name, `followed`: the object), the pod, and what the data directory holds. A published
 * commit that answers an earlier spec (another ref or repository) is not delivered: a gateway that has it keeps it, every other one waits
 * until the current spec is answered. A gateway that the rollout has not reached keeps its commit; an empty one gets the commit from before
 * the rollout. Never throws.
 */
export function desiredSync(gatewaySync: string | undefined, followed: FollowedSync | undefined, pod: PodFacts, inPlace: InPlace): Desired {
  if (followed === undefined) return idle('Pending', 'NotFound', missingText(gatewaySync, pod))
  const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
  const read = readFollowedSpec(followed.spec, name)
  const startFields = readStartFields(followed.spec, name)
  const start = startSettings(startFields)
  if (read.kind === 'invalid') return idle('Blocked', 'InvalidSpec', `spec.${read.path}: ${read.message}`, start)
  const { spec } = read
  if (!Object.hasOwn(spec.sync.profiles, name)) return idle('Blocked', 'UnknownProfile', unknownProfileText(name, read.profiles), start)
  const profile = resolveProfile(spec.sync, name)
  const { paused } = startFields
  const { published, delivery, source, rollout } = followed.status
  if (published === undefined || !isCommitHash(published.commit)) {
    return idle('Pending', 'CommitNotPublished', nothingPublished, start)
  }
  if (delivery === undefined)
    return idle('Pending', 'DeliveryUnreachable', 'the controller has not announced its delivery address yet', start)
  if (!paused && published.commit !== inPlace?.commit && !answersSpec(spec.git, followed.annotations, followed.status)) {
    const message = `the published commit is of ${shortRef(published.ref)}${ofRepository(published.repo, spec.git.repo)}; the desired commit is not published yet`
    return idle('Pending', 'CommitNotPublished', message, start)
  }
  const hash = syncHash(profile, spec.gateway)
  // A sync that writes nothing needs no stage.
  const isStaged = (spec.rollout !== undefined || spec.sync.rollbackOnFailedScan) && !paused && !profile.dryRun
  const admission = isStaged
    ? admissionOf(
        { published, ...(rollout === undefined ? {} : { rollout }) },
        { pod: pod.podName, profile: name, syncHash: hash, inPlace },
      )
    : ({ kind: 'go' } as const)
  const waits = admission.kind === 'wait' ? waitsText(published.commit, admission.stage) : undefined
  const { commit, ref } = admission.kind === 'wait' ? admission.keep : published
  const isKept = inPlace?.commit === undefined || (inPlace.commit === commit && inPlace.syncHash === hash)
  if (!isCommitHash(commit) || (waits !== undefined && !isKept)) {
    // It holds a complete commit and its stage may be hours away, so its start is not held.
    return idle('Pending', 'WaitsForStage', waits ?? '', { ...start, policy: 'Start' })
  }
  return {
    kind: 'sync',
    commit,
    // Templates, patches and reports use the short name of the branch or tag, whichever form the spec has.
    ref: shortRef(ref),
    profile,
    syncHash: hash,
    gateway: spec.gateway,
    paused,
    start,
    validation: spec.validation,
    confirmDeletions: confirmedCommit(followed, confirmDeletionsAnnotation),
    confirmOverwrites: confirmedCommit(followed, confirmOverwritesAnnotation),
    check: isStaged && admission.kind === 'go' && isUnderWay(rollout) ? profile.healthCheck?.http : undefined,
    rolledOutBefore: isStaged ? rollout?.previous?.commit : undefined,
    delivery,
    requestId: source?.commit === commit ? source.requested?.id : undefined,
    uid: followed.uid,
    ...captureOf(spec, followed, pod),
    waits,
    ignoredFields: read.ignoredFields,
  }
}

function missingText(gatewaySync: string | undefined, { namespace }: PodFacts): string {
  return gatewaySync === undefined
    ? `the pod names no GatewaySync and namespace "${namespace}" does not have exactly one`
    : `GatewaySync "${gatewaySync}" does not exist in namespace "${namespace}"`
}

function unknownProfileText(name: string, profiles: readonly string[]): string {
  return `annotation ${podAnnotations.profile}: profile "${name}" does not exist; there are: ${profiles.toSorted().join(', ')}`
}

/** Returns the commit that an annotation confirms. */
function confirmedCommit({ annotations }: FollowedSync, annotation: string): CommitHash | undefined {
  const text = annotations[annotation]
  return text !== undefined && isCommitHash(text) ? text : undefined
}

/** Returns what to do with local changes. */
function captureOf(
  { capture, git }: FollowedSpec,
  { annotations, uid }: FollowedSync,
  pod: PodFacts,
): Pick<Extract<Desired, { kind: 'sync' }>, 'capture' | 'changes' | 'captureQuiet'> {
  const gateway = { pod: pod.podName, gateway: gatewayName(pod) }
  const quietMs = quietPeriodMs(capture)
  return {
    capture: captureRequestId(capture, annotations, gateway),
    changes: changesRequestId(annotations, gateway),
    captureQuiet: quietMs === undefined ? undefined : { quietMs, subject: `${uid} ${git.repo}` },
  }
}

function waitsText(commit: string, stage: string | undefined): string {
  return `commit ${shortCommit(commit)} waits for its stage of the rollout${stage === undefined ? '' : `; stage ${stage} is in progress`}`
}

function ofRepository(published: string | undefined, desired: string): string {
  return published === undefined || published === desired ? '' : ' of another repository'
}

/** The gateway's name in reports and templates: from the annotation, otherwise the pod's name. */
export function gatewayName(pod: PodFacts): string {
  return gatewayNameOf({ name: pod.podName, annotations: pod.annotations })
}

/** The pod's index in its StatefulSet: from the Kubernetes label, otherwise the number after the last dash, otherwise 0. */
export function podOrdinal(pod: PodFacts): number {
  const label = pod.labels['apps.kubernetes.io/pod-index']
  const text = label ?? /-([0-9]+)$/.exec(pod.podName)?.[1]
  return text === undefined || !/^[0-9]{1,9}$/.test(text) ? 0 : Number(text)
}

/** Parses the downward API's file of annotations or labels: one `key="escaped value"` per line. */
export function parseDownwardFile(text: string): Record<string, string> {
  const entries = [...text.matchAll(/^([^=\n]+)="((?:[^"\\]|\\.)*)"$/gm)].flatMap(([, key, quoted]): [string, string][] => {
    if (key === undefined || quoted === undefined) return []
    return [[key, unquote(quoted)]]
  })
  return Object.fromEntries(entries)
}

/** Parses Go's `%q`, which the kubelet writes: like JSON, except for `\x`, `\a`, `\v` and `\'`. */
function unquote(quoted: string): string {
  const letters: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' }
  return quoted.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g,
    (_all, x?: string, u?: string, long?: string, letter = '') => {
      const code = x ?? u ?? long
      return code === undefined ? (letters[letter] ?? letter) : String.fromCodePoint(Number.parseInt(code, 16))
    },
  )
}

function idle(phase: 'Pending' | 'Blocked', reason: Fault['reason'], message: string, start = unknownStart): Desired {
  return { kind: 'idle', phase, fault: new Fault(reason, message), start }
}
