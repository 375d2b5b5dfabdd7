/**
 * What this gateway should hold now, given its GatewaySync and its pod; or why there is nothing to do. Pure.
 */
import { Fault } from '../fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, podAnnotations } from '../gatewaysync/names.ts'
import { defaultProfileName, resolveProfile, type ResolvedProfile, syncHash } from '../gatewaysync/decide/profile.ts'
import { readFollowedSpec, readStartWish } from '../gatewaysync/schema/followed-spec.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncSpec, HttpCheck } from '../gatewaysync/schema/spec.ts'
import { answersSpec } from '../gatewaysync/decide/request.ts'
import { askedOf, changesAskedOf, gatewayNameOf, quietOf } from '../gatewaysync/decide/capture.ts'
import { turnOf } from '../gatewaysync/rollout/turn.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { type CommitHash, isCommitHash, shortCommit } from '../gatewaysync/values.ts'
import { type StartSettings, startSettings, unknownStart } from './health.ts'

/** What a gateway says that waits for the first commit of all. */
export const nothingPublished = 'no commit is published yet'

/** The GatewaySync as the watch delivers it; undefined when it does not exist. */
export type FollowedSync = {
  /** Tells it from one that is made anew under its name. */
  uid: string
  annotations: Readonly<Record<string, string>>
  spec: unknown
  status: GatewaySyncStatus
}

/** What the data directory holds, from the last report or the directory's own records; undefined: not known. */
export type InPlace = Partial<Pick<SyncReportStatus, 'commit' | 'syncHash'>> | undefined

/** What the downward API says about the pod, read at each look. */
export type PodFacts = {
  podName: string
  namespace: string
  annotations: Readonly<Record<string, string>>
  labels: Readonly<Record<string, string>>
}

/** What the agent has to do; `start` says how the gateway's start is held back meanwhile. */
export type Desired =
  /** Nothing to write; the gateway keeps what it has. Blocked: somebody has to change something; Pending: it ends by itself. */
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
      /** The last commit that every gateway had before the present rollout. */
      rolledOutBefore: string | undefined
      /** What a rollout asks of the gateway once it has what is published; undefined: nothing. */
      check: HttpCheck | undefined
      delivery: { url: string; caBundle: string }
      /** The request that asked for the commit; undefined when the spec alone did. */
      requestId: string | undefined
      /** Of the GatewaySync; one that is made anew has another. */
      uid: string
      /** The request for what was changed on this gateway; undefined: nobody asks. */
      capture: string | undefined
      /** The request to tell in the report what was changed on this gateway; undefined: nobody asks. */
      changes: string | undefined
      /**
       * For how many ms changes must be left alone until they are handed on, though nobody asks; undefined: they are not. `subject`: of which
       * GatewaySync and repository.
       */
      captureQuiet: { quietMs: number; subject: string } | undefined
      /** Why this is not what is published, in one sentence: the gateway's turn in the rollout has not come; undefined: it is. */
      waits: string | undefined
      /** Fields of the GatewaySync that this agent is too old to know. */
      ignoredFields: readonly string[]
    }

/**
 * Decides from the GatewaySync (`gatewaySync`: its name, `followed`: the object), the pod, and what the data directory holds. A published
 * commit that answers an earlier spec (another ref or repository) is not delivered any more: a gateway that has it keeps it, every other one
 * waits for the answer to the present spec. A gateway whose turn in a rollout has not come keeps what it has; one that has nothing comes up
 * with the commit from before the rollout. Never throws.
 */
export function desiredSync(gatewaySync: string | undefined, followed: FollowedSync | undefined, pod: PodFacts, inPlace: InPlace): Desired {
  if (followed === undefined) {
    const missing =
      gatewaySync === undefined
        ? `the pod names no GatewaySync and namespace "${pod.namespace}" has not exactly one`
        : `GatewaySync "${gatewaySync}" does not exist in namespace "${pod.namespace}"`
    return idle('Pending', 'NotFound', missing)
  }
  const name = pod.annotations[podAnnotations.profile] ?? defaultProfileName
  const read = readFollowedSpec(followed.spec, name)
  const wish = readStartWish(followed.spec, name)
  const start = startSettings(wish)
  if (read.kind === 'invalid') return idle('Blocked', 'InvalidSpec', `spec.${read.path}: ${read.message}`, start)
  const { spec } = read
  if (!Object.hasOwn(spec.sync.profiles, name)) {
    const known = read.profiles.toSorted().join(', ')
    const message = `annotation ${podAnnotations.profile}: profile "${name}" does not exist; there are: ${known}`
    return idle('Blocked', 'UnknownProfile', message, start)
  }
  const profile = resolveProfile(spec.sync, name)
  const { paused } = wish
  const { published, delivery, source, rollout } = followed.status
  if (published === undefined || !isCommitHash(published.commit)) {
    return idle('Pending', 'CommitNotPublished', nothingPublished, start)
  }
  if (delivery === undefined)
    return idle('Pending', 'DeliveryUnreachable', 'the controller has not announced its delivery address yet', start)
  if (!paused && published.commit !== inPlace?.commit && !answersSpec(spec.git, followed.annotations, followed.status)) {
    const message = `the published commit is of ${published.ref}${ofRepository(published.repo, spec.git.repo)}; what the present spec asks for is not published yet`
    return idle('Pending', 'CommitNotPublished', message, start)
  }
  const confirmed = (annotation: string): CommitHash | undefined => {
    const text = followed.annotations[annotation]
    return text !== undefined && isCommitHash(text) ? text : undefined
  }
  const hash = syncHash(profile, spec.gateway)
  // What writes nothing waits for nothing.
  const isStaged = (spec.rollout !== undefined || spec.sync.rollbackOnFailedScan) && !paused && !profile.dryRun
  const turn = isStaged
    ? turnOf({ published, ...(rollout === undefined ? {} : { rollout }) }, { pod: pod.podName, profile: name, syncHash: hash, inPlace })
    : ({ kind: 'go' } as const)
  const waits = turn.kind === 'wait' ? waitsText(published.commit, turn.stage) : undefined
  const { commit, ref } = turn.kind === 'wait' ? turn.keep : published
  const isKept = inPlace?.commit === undefined || (inPlace.commit === commit && inPlace.syncHash === hash)
  if (!isCommitHash(commit) || (waits !== undefined && !isKept)) {
    // It has a whole commit, and nothing will come soon: it need not wait for anything.
    return idle('Pending', 'WaitsForStage', waits ?? '', { ...start, policy: 'start' })
  }
  const quietMs = quietOf(spec.capture)
  return {
    kind: 'sync',
    commit,
    ref,
    profile,
    syncHash: hash,
    gateway: spec.gateway,
    paused,
    start,
    validation: spec.validation,
    confirmDeletions: confirmed(confirmDeletionsAnnotation),
    confirmOverwrites: confirmed(confirmOverwritesAnnotation),
    check: isStaged && turn.kind === 'go' && isWatched(rollout) ? profile.check?.http : undefined,
    rolledOutBefore: isStaged ? rollout?.before?.commit : undefined,
    delivery,
    requestId: source?.commit === commit ? source.requested?.id : undefined,
    uid: followed.uid,
    capture: askedOf(spec.capture, followed.annotations, { pod: pod.podName, gateway: gatewayName(pod) }),
    changes: changesAskedOf(followed.annotations, { pod: pod.podName, gateway: gatewayName(pod) }),
    captureQuiet: quietMs === undefined ? undefined : { quietMs, subject: `${followed.uid} ${spec.git.repo}` },
    waits,
    ignoredFields: read.ignoredFields,
  }
}

/** Whether somebody waits to hear that gateways are healthy. */
function isWatched(rollout: GatewaySyncStatus['rollout']): boolean {
  return rollout?.state === 'Progressing' || rollout?.state === 'Stopped'
}

function waitsText(commit: string, stage: string | undefined): string {
  return `commit ${shortCommit(commit)} waits for its stage of the rollout${stage === undefined ? '' : `; stage ${stage} is at work`}`
}

function ofRepository(published: string | undefined, wanted: string): string {
  return published === undefined || published === wanted ? '' : ' of another repository'
}

/** The gateway's name in reports and templates: the annotation's, else the pod's. */
export function gatewayName(pod: PodFacts): string {
  return gatewayNameOf({ name: pod.podName, annotations: pod.annotations })
}

/** The pod's index in its StatefulSet: Kubernetes' label, else the number after the last dash, else 0. */
export function podOrdinal(pod: PodFacts): number {
  const label = pod.labels['apps.kubernetes.io/pod-index']
  const text = label ?? /-([0-9]+)$/.exec(pod.podName)?.[1]
  return text === undefined || !/^[0-9]{1,9}$/.test(text) ? 0 : Number(text)
}

/** Reads the downward API's file of annotations or labels: one `key="escaped value"` a line. */
export function parseDownwardFile(text: string): Record<string, string> {
  const entries = [...text.matchAll(/^([^=\n]+)="((?:[^"\\]|\\.)*)"$/gm)].flatMap(([, key, quoted]): [string, string][] => {
    if (key === undefined || quoted === undefined) return []
    return [[key, unquote(quoted)]]
  })
  return Object.fromEntries(entries)
}

/** Reads Go's `%q`, which the kubelet writes: like JSON, except for `\x`, `\a`, `\v` and `\'`. */
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
