/** Defines everything that a decision about one GatewaySync depends on, as data. */
import type { Fault } from '../../platform/fault.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { StoredCheck } from '../../api/check-record.ts'
import type { CaptureEntry } from '../../api/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GatewaySyncStatus, StatusFinding } from '../../api/schema/status.ts'
import type { CommitHash } from '../../api/values.ts'
import type { GatewayPod, Reports } from './gateways.ts'
import type { Annotations, DesiredRef } from './request.ts'

/** The result of source resolution and validation of the desired ref. */
export type SourceObservation =
  /** No resolution in this reconcile: the status still holds, and so does the fault of the last resolution. */
  | { kind: 'unchanged'; lastFault: Fault | undefined }
  /** The present spec has not been resolved yet: the status is about an earlier one. */
  | { kind: 'pending' }
  | (ResolvedSource & { kind: 'resolved'; verified: Signers | undefined; verdict: Verdict })
  /** The commit was fetched, but is not signed as `spec.git.verify` requires. */
  | (ResolvedSource & { kind: 'unverified'; fault: Fault })
  | { kind: 'fault'; fault: Fault }

/** The commit of the desired ref. `durationMs` covers resolution, fetch and validation. */
export type ResolvedSource = {
  commit: CommitHash
  committedAt: string | undefined
  fetchedAt: string
  /** Full name of the branch or tag, or revision of the artifact; absent for a hash. */
  resolvedRef?: string
  durationMs: number
  /** The git host does not serve the push yet that triggered the request. */
  isBehind?: boolean
}

/** The signers of the commit and of its tag. */
export type Signers = NonNullable<NonNullable<GatewaySyncStatus['source']>['verified']>

/** Findings of the collection checks; `notChecked` when no profile has collections or the policy is Off. */
export type Verdict =
  | { kind: 'notChecked' }
  /** `unfinished`: validation did not finish; names the version, commit and content that are not validated again. */
  | { kind: 'checked'; errors: number; warnings: number; items: readonly StatusFinding[]; unfinished?: string }

/** Everything that a decision depends on. */
export type Observation = {
  generation: number
  spec: GatewaySyncSpec
  annotations: Annotations
  /** The current status. */
  status: GatewaySyncStatus
  /** The desired ref when the git host was queried; the annotations may have changed since. */
  desired: DesiredRef
  source: SourceObservation
  /** The pods that follow this GatewaySync, and the reports by pod name. */
  pods: readonly GatewayPod[]
  reports: Reports
  delivery: GatewaySyncStatus['delivery']
  /** Capture results since the status was written. */
  captured?: readonly CaptureEntry[]
  /** Prometheus results about gateways, by pod. */
  answers?: ReadonlyMap<string, StoredCheck>
  /** Why its work waits for other work of its namespace. */
  throttled?: string | undefined
  now: Temporal.Instant
}
