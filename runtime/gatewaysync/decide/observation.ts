/** What a decision about one GatewaySync depends on: everything that was observed in a pass, as data. */
import type { Fault } from '../../fault.ts'
import type { RememberedCheck } from '../check-record.ts'
import type { CaptureEntry } from '../schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../schema/spec.ts'
import type { GatewaySyncStatus, StatusFinding } from '../schema/status.ts'
import type { CommitHash } from '../values.ts'
import type { GatewayPod, GatewayReport } from './gateways.ts'
import type { Annotations, WantedRef } from './request.ts'

/** What the git host and the checks said about the wanted ref in this pass. */
export type SourceObservation =
  /** The git host was not asked in this pass: the status still holds, and so does the fault of the last lookup. */
  | { kind: 'unasked'; lastFault: Fault | undefined }
  /** The git host has not been asked about the present spec yet: the status is about an earlier one. */
  | { kind: 'pending' }
  | (ResolvedSource & { kind: 'resolved'; verified: Signers | undefined; verdict: Verdict })
  /** The commit was fetched, but is not signed as `spec.git.verify` requires. */
  | (ResolvedSource & { kind: 'unverified'; fault: Fault })
  | { kind: 'fault'; fault: Fault }

/** The commit of the wanted ref, and what asking for it told. `durationMs`: of asking, fetching and checking. */
export type ResolvedSource = {
  commit: CommitHash
  committedAt: string | undefined
  fetchedAt: string
  hasTagToo?: boolean
  durationMs: number
}

/** Who signed the commit, and who the tag that names it. */
export type Signers = NonNullable<NonNullable<GatewaySyncStatus['source']>['verified']>

/** What the collection checks found; `notChecked` when no profile has collections or the policy is Off. */
export type Verdict =
  | { kind: 'notChecked' }
  /** `unfinished`: the checks did not finish; names the version, commit and content that are not checked again. */
  | { kind: 'checked'; errors: number; warnings: number; items: readonly StatusFinding[]; unfinished?: string }

/** Everything that a decision depends on. */
export type Observation = {
  generation: number
  spec: GatewaySyncSpec
  annotations: Annotations
  /** The status as it stands. */
  status: GatewaySyncStatus
  /** The ref that was wanted when the git host was asked; the annotations may have changed since. */
  wanted: WantedRef
  source: SourceObservation
  /** The pods that follow this GatewaySync, and the reports by pod name. */
  pods: readonly GatewayPod[]
  reports: ReadonlyMap<string, GatewayReport>
  delivery: GatewaySyncStatus['delivery']
  /** What became of changes of gateways since the status was written. */
  captured?: readonly CaptureEntry[]
  /** What Prometheus has answered about gateways, by pod. */
  answers?: ReadonlyMap<string, RememberedCheck>
  now: Temporal.Instant
}
