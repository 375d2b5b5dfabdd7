/**
 * Defines the status of a GatewaySync: the source of its TypeScript types and CRD schema. Pure.
 */
import * as v from 'valibot'
import { captureStatus } from './capture-spec.ts'
import { duration, crd, listMap } from './fields.ts'
import { pastStage, rolloutStatus, selectedBy } from './rollout-status.ts'
const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** Maximum number of unreported pods in a status; once these have reported, the next ones are named. */
export const maxUnreported = 20

/** metav1.Condition. */
export const condition = v.object({
  type: v.pipe(text(316), v.description('Type of the condition.')),
  status: v.pipe(v.picklist(['True', 'False', 'Unknown']), v.description('Status of the condition.')),
  observedGeneration: v.optional(v.pipe(count, v.description('Generation of the spec that the condition is based on.'))),
  lastTransitionTime: v.pipe(time, v.description('When the status last changed.')),
  reason: v.pipe(text(1024), v.description('Reason, as listed in the operations reference or in the runbook.')),
  message: v.pipe(text(32768), v.description('Human-readable explanation of the reason.')),
})

const requested = v.object({
  ref: v.pipe(text(255), v.description('The requested ref.')),
  by: v.optional(v.pipe(text(128), v.description('Who made the request.'))),
  at: v.optional(v.pipe(text(64), v.description('When the request was made, according to the caller.'))),
  id: v.pipe(text(128), v.description('ID of the request.')),
  specRef: v.pipe(
    text(255),
    v.description('The value of spec.git.ref at the time of the request. The request ends when spec.git.ref changes.'),
  ),
})

const signer = v.object({
  key: v.pipe(text(256), v.description('Fingerprint of the key.')),
  by: v.optional(v.pipe(text(256), v.description('Owner of the key, according to the Secret.'))),
})

/** One finding of the collection checks. */
export const finding = v.object({
  rule: v.pipe(text(63), v.description('Rule, as listed in docs/reference/rules.md.')),
  severity: v.pipe(
    v.picklist(['error', 'warning']),
    v.description('With the policy Enforce, an error prevents the commit from being published.'),
  ),
  path: v.pipe(text(4096), v.description('The file or folder in the repository.')),
  line: v.optional(v.pipe(count, v.description('Line in the file, from 1, if it is known.'))),
  message: v.pipe(text(1024), v.description('Description of the problem.')),
})

const columns = v.object({
  gateways: v.optional(
    v.pipe(text(32), v.description('Number of gateways that run the published commit, out of all gateways, such as 2/3.')),
  ),
  commit: v.optional(v.pipe(text(8), v.description('Abbreviated hash of the published commit, or digest of the artifact.'))),
  message: v.optional(v.pipe(text(60), v.description('The message of the condition Ready, shortened to one line.'))),
})

/** The schema of `status`. Every list and text is bounded, so that an object stays far below etcd's limit. */
export const gatewaySyncStatus = v.object({
  observedGeneration: v.optional(v.pipe(count, v.description('Generation of the spec that this status is based on.'))),
  lastHandledRequest: v.optional(v.pipe(text(128), v.description('ID of the newest request that was handled.'))),
  requestDigest: v.optional(v.pipe(text(64), v.description('Digest of the request annotations that were last handled.'))),
  requests: v.optional(
    v.pipe(
      v.array(
        v.object({
          id: v.pipe(text(128), v.description('ID of the request.')),
          ref: v.pipe(text(255), v.description('The requested ref.')),
          outcome: v.pipe(
            v.picklist(['Handled', 'Superseded', 'Refused', 'Pending']),
            v.description('Result of the request. Pending: the git host does not have the ref yet; the request is retried.'),
          ),
          reason: v.optional(v.pipe(text(64), v.description('Reason why the request was refused or is pending.'))),
          message: v.optional(v.pipe(text(1024), v.description('Human-readable explanation of the reason.'))),
          at: v.pipe(time, v.description('When the request was handled or became pending.')),
        }),
      ),
      v.maxLength(20),
      listMap('id'),
      v.description('The latest requests and their outcomes.'),
    ),
  ),
  source: v.optional(
    v.pipe(
      v.object({
        ref: v.pipe(
          text(255),
          v.description('The desired ref: a ref, HEAD, semver:<range> or tagPattern:<pattern>; for an artifact, its tag or digest.'),
        ),
        requested: v.optional(v.pipe(requested, v.description('The request that is followed instead of spec.git.ref.'))),
        commit: v.optional(v.pipe(hash, v.description('The commit that the desired ref resolved to.'))),
        committedAt: v.optional(v.pipe(time, v.description('Commit date.'))),
        checkedAt: v.optional(
          v.pipe(time, v.description('When the git host was last checked; updated at most once an hour if nothing has changed.')),
        ),
        fetchedAt: v.optional(v.pipe(time, v.description('When the commit was fetched.'))),
        verified: v.optional(
          v.pipe(
            v.object({
              commit: v.optional(v.pipe(signer, v.description('Signature of the commit.'))),
              tag: v.optional(v.pipe(signer, v.description('Signature of the tag.'))),
            }),
            v.description('Verified signatures, as required by spec.git.verify or spec.oci.verify.'),
          ),
        ),
        resolvedRef: v.optional(
          v.pipe(
            text(255),
            v.description('Full name of the branch or tag that the desired ref resolves to; for an artifact, <tag>@<digest>.'),
          ),
        ),
        held: v.optional(v.pipe(v.string(), v.maxLength(64), v.description('Why the commit is not published.'))),
        unfinishedValidation: v.optional(
          v.pipe(text(128), v.description('Operator version, commit and content of a validation that did not finish and is not retried.')),
        ),
      }),
      v.description('The desired ref and the commit that it resolved to.'),
    ),
  ),
  published: v.optional(
    v.pipe(
      v.object({
        commit: v.pipe(hash, v.description('The commit that agents follow.')),
        ref: v.pipe(text(255), v.description('The ref that the commit was resolved from; for an artifact, <tag>@<digest>.')),
        specRef: selectedBy,
        repo: v.optional(v.pipe(text(2048), v.description('The spec.git.repo or spec.oci.url that the commit was published from.'))),
        at: v.pipe(time, v.description('When the commit was published.')),
      }),
      v.description('The verified and validated commit that agents follow.'),
    ),
  ),
  rollout: v.optional(
    v.pipe(rolloutStatus, v.description('State of the rollout; absent without spec.rollout and spec.sync.rollbackOnFailedScan.')),
  ),
  delivery: v.optional(
    v.pipe(
      v.object({
        url: v.pipe(text(2048), v.description('URL of the content server.')),
        caBundle: v.pipe(text(65536), v.description('PEM-encoded CA certificates for verifying the content server.')),
      }),
      v.description('The server from which agents fetch content.'),
    ),
  ),
  gateways: v.optional(
    v.pipe(
      v.object({
        total: v.pipe(count, v.description('Number of all gateways.')),
        synced: v.pipe(count, v.description('Gateways that run the published commit.')),
        pending: v.pipe(count, v.description('Gateways that are updating.')),
        failed: v.pipe(count, v.description('Gateways that report a failure.')),
        blocked: v.pipe(count, v.description('Gateways that are blocked until a user changes something.')),
        drifted: v.pipe(count, v.description('Gateways that run the published commit with local changes.')),
        dryRun: v.pipe(count, v.description('Gateways in dry run.')),
        paused: v.pipe(count, v.description('Gateways that are paused.')),
        missingAgent: v.pipe(count, v.description('Pods that request an agent but have none.')),
        // Optional, because a controller of a release without it also writes this object.
        waiting: v.optional(v.pipe(count, v.description('Gateways that wait for their stage of the rollout; absent if there are none.'))),
      }),
      v.description('Number of gateways by state; the states add up to total.'),
    ),
  ),
  unreported: v.optional(
    v.pipe(
      v.array(text(253)),
      v.maxLength(maxUnreported),
      v.description('Gateway pods that have an agent but no SyncReport. An agent that finds its pod here reports again.'),
    ),
  ),
  outdatedAgents: v.optional(
    v.pipe(count, v.description('Number of gateways whose agent is too old for this GatewaySync; absent if there are none.')),
  ),
  findings: v.optional(
    v.pipe(
      v.object({
        errors: v.pipe(count, v.description('Number of errors.')),
        warnings: v.pipe(count, v.description('Number of warnings.')),
        items: v.pipe(v.array(finding), v.maxLength(50), v.description('The first findings.')),
      }),
      v.description('Findings of the validation of resource collections.'),
    ),
  ),
  history: v.optional(
    v.pipe(
      v.array(
        v.object({
          commit: v.pipe(hash, v.description('The commit.')),
          ref: v.pipe(text(255), v.description('The desired ref.')),
          specRef: selectedBy,
          by: v.optional(v.pipe(text(128), v.description('Who selected the commit: spec, or the sender of a request.'))),
          at: v.pipe(time, v.description('When the commit was published or refused.')),
          outcome: v.pipe(v.picklist(['Published', 'Refused']), v.description('Whether the commit was published or refused.')),
          reason: v.optional(v.pipe(text(64), v.description('Reason why the commit was refused.'))),
          message: v.optional(v.pipe(text(256), v.description('Human-readable explanation of the reason, shortened.'))),
          signedBy: v.optional(
            v.pipe(
              text(256),
              v.description('Fingerprints of the keys that signed the commit, if spec.git.verify or spec.oci.verify is set.'),
            ),
          ),
          duration: v.optional(v.pipe(duration, v.description('Duration of fetching and validation, such as 1.2s.'))),
          stages: v.optional(
            v.pipe(
              v.array(pastStage),
              v.maxLength(16),
              listMap('name'),
              v.description('The stages of its rollout that started. Absent while the rollout is in progress, or if there was none.'),
            ),
          ),
        }),
      ),
      v.maxLength(10),
      v.description('The latest commits that were published or refused, newest first.'),
    ),
  ),
  capture: v.optional(v.pipe(captureStatus, v.description('Results of captures of local changes.'))),
  conditions: v.optional(v.pipe(v.array(condition), v.maxLength(16), v.description('Conditions of the GatewaySync.'), listMap('type'))),
  columns: v.optional(v.pipe(columns, v.description('Values for the columns of kubectl get; not used for decisions.'))),
})

export type GatewaySyncStatus = v.InferOutput<typeof gatewaySyncStatus>
export type Condition = v.InferOutput<typeof condition>
export type StatusFinding = v.InferOutput<typeof finding>
export type GatewaySyncColumns = v.InferOutput<typeof columns>
export type GatewayCounts = NonNullable<GatewaySyncStatus['gateways']>
export type RequestOutcome = NonNullable<GatewaySyncStatus['requests']>[number]
