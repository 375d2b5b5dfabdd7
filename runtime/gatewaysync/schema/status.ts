/**
 * What is answered: the one source of the GatewaySync status' TypeScript types and CRD schema. Pure.
 */
import * as v from 'valibot'
import { crd } from './rule.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const time = v.pipe(v.string(), v.maxLength(64), crd({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const hash = v.pipe(v.string(), v.regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/))

/** As many names as a status can show; when these have reported, the next are named. */
export const maxUnreported = 20

export const condition = v.object({
  type: text(316),
  status: v.picklist(['True', 'False', 'Unknown']),
  observedGeneration: v.optional(count),
  lastTransitionTime: time,
  reason: text(1024),
  message: text(32768),
})

const requested = v.object({
  ref: text(255),
  by: v.optional(text(128)),
  at: v.optional(text(64)),
  id: text(128),
  specRef: v.pipe(text(255), v.description('The spec.git.ref that the request saw; the request ends when it differs.')),
})

const signer = v.object({
  key: v.pipe(text(256), v.description('Fingerprint of the key.')),
  by: v.optional(v.pipe(text(256), v.description('Whose key it is, as the Secret says.'))),
})

export const finding = v.object({
  rule: text(63),
  severity: v.picklist(['error', 'warning']),
  path: text(4096),
  message: text(1024),
})

export const gatewaySyncStatus = v.object({
  observedGeneration: v.optional(count),
  lastHandledRequest: v.optional(v.pipe(text(128), v.description('Id of the newest request that was acted on.'))),
  requestDigest: v.optional(v.pipe(text(64), v.description('Tells the request annotations that were acted on last from any others.'))),
  requests: v.optional(
    v.pipe(
      v.array(
        v.object({
          id: text(128),
          ref: text(255),
          outcome: v.picklist(['Handled', 'Superseded', 'Refused']),
          reason: v.optional(text(64)),
          message: v.optional(text(1024)),
          at: time,
        }),
      ),
      v.maxLength(20),
      v.description('The last requests and what became of them.'),
    ),
  ),
  source: v.optional(
    v.pipe(
      v.object({
        ref: text(255),
        requested: v.optional(requested),
        commit: v.optional(hash),
        committedAt: v.optional(time),
        checkedAt: v.optional(time),
        fetchedAt: v.optional(time),
        verified: v.optional(
          v.pipe(
            v.object({ commit: v.optional(signer), tag: v.optional(signer) }),
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
        commit: hash,
        ref: text(255),
        repo: v.optional(v.pipe(text(2048), v.description('The spec.git.repo that the commit was published from.'))),
        at: time,
      }),
      v.description('What agents follow: verified and checked.'),
    ),
  ),
  delivery: v.optional(
    v.pipe(v.object({ url: text(2048), caBundle: text(65536) }), v.description('Where agents fetch content; caBundle is PEM.')),
  ),
  gateways: v.optional(
    v.pipe(
      v.object({
        total: count,
        synced: count,
        pending: count,
        failed: count,
        blocked: count,
        drifted: count,
        dryRun: count,
        paused: count,
        missingAgent: count,
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
      v.object({ errors: count, warnings: count, items: v.pipe(v.array(finding), v.maxLength(50)) }),
      v.description('What the checks of resource collections found.'),
    ),
  ),
  history: v.optional(
    v.pipe(
      v.array(
        v.object({
          commit: hash,
          ref: text(255),
          by: v.optional(text(128)),
          at: time,
          outcome: v.picklist(['Published', 'Refused']),
          reason: v.optional(v.pipe(text(64), v.description('Why it was refused.'))),
          message: v.optional(v.pipe(text(256), v.description('The refusal in words, cut to what a list can show.'))),
          signedBy: v.optional(v.pipe(text(256), v.description('Fingerprints of the keys that signed it, where spec.git.verify asked.'))),
          durationMs: v.optional(count),
        }),
      ),
      v.maxLength(10),
      v.description('The last commits that were published or refused, newest first.'),
    ),
  ),
  conditions: v.optional(
    v.pipe(v.array(condition), v.maxLength(16), crd({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })),
  ),
})

export type GatewaySyncStatus = v.InferOutput<typeof gatewaySyncStatus>
export type Condition = v.InferOutput<typeof condition>
export type StatusFinding = v.InferOutput<typeof finding>
export type GatewayCounts = NonNullable<GatewaySyncStatus['gateways']>
export type RequestOutcome = NonNullable<GatewaySyncStatus['requests']>[number]
