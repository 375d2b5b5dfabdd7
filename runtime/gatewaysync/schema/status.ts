/**
 * What the controller reports: the one source of the TypeScript types and the CRD schema of a GatewaySync's status. Pure.
 */
import * as v from 'valibot'
import { captureStatus } from './capture-spec.ts'
import { pastStage, rolloutStatus } from './rollout-status.ts'
import { crd } from './rule.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** How many unreported pods a status names; when these have reported, the next ones are named. */
export const maxUnreported = 20

/** metav1.Condition. */
export const condition = v.object({
  type: v.pipe(text(316), v.description('Which condition.')),
  status: v.pipe(v.picklist(['True', 'False', 'Unknown']), v.description('Whether it holds.')),
  observedGeneration: v.optional(v.pipe(count, v.description('Of which version of the spec it speaks.'))),
  lastTransitionTime: v.pipe(time, v.description('When the status changed last.')),
  reason: v.pipe(text(1024), v.description('Why, in one word of docs/operations.md.')),
  message: v.pipe(text(32768), v.description('Why, in one sentence.')),
})

const requested = v.object({
  ref: v.pipe(text(255), v.description('The ref that was asked for.')),
  by: v.optional(v.pipe(text(128), v.description('Who asked.'))),
  at: v.optional(v.pipe(text(64), v.description('When it was asked for, as the caller says.'))),
  id: v.pipe(text(128), v.description('Id of the request.')),
  specRef: v.pipe(text(255), v.description('The spec.git.ref that the request saw; the request ends when it differs.')),
})

const signer = v.object({
  key: v.pipe(text(256), v.description('Fingerprint of the key.')),
  by: v.optional(v.pipe(text(256), v.description('Whose key it is, as the Secret says.'))),
})

/** One finding of the collection checks. */
export const finding = v.object({
  rule: v.pipe(text(63), v.description('A rule of docs/rules.md.')),
  severity: v.pipe(
    v.picklist(['error', 'warning']),
    v.description('An error keeps the commit from being published where the policy is Enforce.'),
  ),
  path: v.pipe(text(4096), v.description('The file or folder in the repository.')),
  message: v.pipe(text(1024), v.description('What is wrong.')),
})

const columns = v.object({
  gateways: v.optional(v.pipe(text(32), v.description('How many gateways run the published commit, of how many: 2/3.'))),
  commit: v.optional(v.pipe(text(8), v.description('The first digits of the published commit.'))),
  message: v.optional(v.pipe(text(60), v.description('The message of the condition Ready, cut to what fits a line.'))),
})

/** The schema of `status`. Every list and text is bounded, so that an object stays far below etcd's limit. */
export const gatewaySyncStatus = v.object({
  observedGeneration: v.optional(v.pipe(count, v.description('The version of the spec that this status is about.'))),
  lastHandledRequest: v.optional(v.pipe(text(128), v.description('Id of the newest request that was acted on.'))),
  requestDigest: v.optional(v.pipe(text(64), v.description('Tells the request annotations that were acted on last from any others.'))),
  requests: v.optional(
    v.pipe(
      v.array(
        v.object({
          id: v.pipe(text(128), v.description('Id of the request.')),
          ref: v.pipe(text(255), v.description('The ref that was asked for.')),
          outcome: v.pipe(v.picklist(['Handled', 'Superseded', 'Refused']), v.description('What became of it.')),
          reason: v.optional(v.pipe(text(64), v.description('Why it was refused, in one word.'))),
          message: v.optional(v.pipe(text(1024), v.description('Why it was refused, in one sentence.'))),
          at: v.pipe(time, v.description('When it was answered.')),
        }),
      ),
      v.maxLength(20),
      v.description('The last requests and what became of them.'),
    ),
  ),
  source: v.optional(
    v.pipe(
      v.object({
        ref: v.pipe(text(255), v.description('The wanted ref.')),
        requested: v.optional(v.pipe(requested, v.description('The request that is followed instead of spec.git.ref.'))),
        commit: v.optional(v.pipe(hash, v.description('What the wanted ref resolved to.'))),
        committedAt: v.optional(v.pipe(time, v.description('When the commit was made.'))),
        checkedAt: v.optional(
          v.pipe(time, v.description('When the git host was asked; written at most every hour where nothing changed.')),
        ),
        fetchedAt: v.optional(v.pipe(time, v.description('When the commit was fetched.'))),
        verified: v.optional(
          v.pipe(
            v.object({
              commit: v.optional(v.pipe(signer, v.description('Who signed the commit.'))),
              tag: v.optional(v.pipe(signer, v.description('Who signed the tag.'))),
            }),
            v.description('Who signed the commit, and the tag that names it, as spec.git.verify asks.'),
          ),
        ),
        hasTagToo: v.optional(v.pipe(v.boolean(), v.description('A tag has the name of the branch that is followed.'))),
        held: v.optional(v.pipe(v.string(), v.maxLength(64), v.description('Why the commit is not published.'))),
        unfinishedCheck: v.optional(
          v.pipe(text(128), v.description('Of which version, commit and content the checks did not come to an end: not tried again.')),
        ),
      }),
      v.description('What is wanted, and what it resolved to.'),
    ),
  ),
  published: v.optional(
    v.pipe(
      v.object({
        commit: v.pipe(hash, v.description('The commit that agents follow.')),
        ref: v.pipe(text(255), v.description('The ref that it was published for.')),
        repo: v.optional(v.pipe(text(2048), v.description('The spec.git.repo that the commit was published from.'))),
        at: v.pipe(time, v.description('When it was published.')),
      }),
      v.description('What agents follow: verified and checked.'),
    ),
  ),
  rollout: v.optional(v.pipe(rolloutStatus, v.description('How far the staged rollout is; absent without spec.rollout.'))),
  delivery: v.optional(
    v.pipe(
      v.object({
        url: v.pipe(text(2048), v.description('Where agents fetch.')),
        caBundle: v.pipe(text(65536), v.description('The authorities that they trust, PEM.')),
      }),
      v.description('Where agents fetch content; caBundle is PEM.'),
    ),
  ),
  gateways: v.optional(
    v.pipe(
      v.object({
        total: v.pipe(count, v.description('All of them.')),
        synced: v.pipe(count, v.description('Run the published commit.')),
        pending: v.pipe(count, v.description('Are on their way.')),
        failed: v.pipe(count, v.description('Report a failure.')),
        blocked: v.pipe(count, v.description('Wait for a change by somebody.')),
        drifted: v.pipe(count, v.description('Run the published commit, with local changes.')),
        dryRun: v.pipe(count, v.description('Plan only.')),
        paused: v.pipe(count, v.description('Write nothing.')),
        missingAgent: v.pipe(count, v.description('Pods that ask for an agent and have none.')),
        // Optional, for a controller of a release without it writes this object too, and only what it knows.
        waiting: v.optional(v.pipe(count, v.description('Keep what they have until their stage of the rollout begins; absent: none.'))),
      }),
      v.description('How many gateways are in which state; the states add up to total.'),
    ),
  ),
  unreported: v.optional(
    v.pipe(
      v.array(text(253)),
      v.maxLength(maxUnreported),
      v.description('Gateway pods that run an agent and have no SyncReport; an agent that reads its name here reports again.'),
    ),
  ),
  outdatedAgents: v.optional(
    v.pipe(count, v.description('How many gateways have an agent that is too old for what is asked for; absent: none.')),
  ),
  findings: v.optional(
    v.pipe(
      v.object({
        errors: v.pipe(count, v.description('How many errors.')),
        warnings: v.pipe(count, v.description('How many warnings.')),
        items: v.pipe(v.array(finding), v.maxLength(50), v.description('The first of them.')),
      }),
      v.description('What the checks of resource collections found.'),
    ),
  ),
  history: v.optional(
    v.pipe(
      v.array(
        v.object({
          commit: v.pipe(hash, v.description('The commit.')),
          ref: v.pipe(text(255), v.description('The ref that was wanted.')),
          by: v.optional(v.pipe(text(128), v.description('Whose wish it was: spec, or who requested it.'))),
          at: v.pipe(time, v.description('When it was decided.')),
          outcome: v.pipe(v.picklist(['Published', 'Refused']), v.description('What became of it.')),
          reason: v.optional(v.pipe(text(64), v.description('Why it was refused.'))),
          message: v.optional(v.pipe(text(256), v.description('The refusal in words, cut to what a list can show.'))),
          signedBy: v.optional(v.pipe(text(256), v.description('Fingerprints of the keys that signed it, where spec.git.verify asked.'))),
          durationMs: v.optional(v.pipe(count, v.description('How long fetching and checking took, in milliseconds.'))),
          stages: v.optional(
            v.pipe(
              v.array(pastStage),
              v.maxLength(16),
              v.description('How its rollout went: the stages that began. Absent while it is under way, and where there was none.'),
            ),
          ),
        }),
      ),
      v.maxLength(10),
      v.description('The last commits that were published or refused, newest first.'),
    ),
  ),
  capture: v.optional(v.pipe(captureStatus, v.description('What became of changes that were made on gateways.'))),
  conditions: v.optional(
    v.pipe(
      v.array(condition),
      v.maxLength(16),
      v.description('Whether it is ready, and if not, why.'),
      crd({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    ),
  ),
  columns: v.optional(v.pipe(columns, v.description('What kubectl get prints, short enough for one line; nothing decides by it.'))),
})

export type GatewaySyncStatus = v.InferOutput<typeof gatewaySyncStatus>
export type Condition = v.InferOutput<typeof condition>
export type StatusFinding = v.InferOutput<typeof finding>
export type GatewaySyncColumns = v.InferOutput<typeof columns>
export type GatewayCounts = NonNullable<GatewaySyncStatus['gateways']>
export type RequestOutcome = NonNullable<GatewaySyncStatus['requests']>[number]
