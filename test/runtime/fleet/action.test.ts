/**
 * What the CLI reports about a requested action: it waits until the controller has answered, and then gives the outcome.
 */
import t from 'tap'
import {
  type RequestedSync,
  lateOutcome,
  outcomeText,
  pauseProgress,
  refProgress,
  requestProgress,
  rolloutProgress,
  type RequestProgress,
} from '../../../runtime/fleet/action.ts'
import { followRefPatch, specRefOf, rollbackTarget } from '../../../runtime/fleet/request-patch.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { matchObject, throwsError } from '../../support/assertions.ts'
import { commit, condition, counts, earlier, syncFacts } from '../../support/fleet-facts.ts'

const asked = (status: GatewaySyncStatus, generation = 1): RequestedSync => ({ ...syncFacts('plant', status), generation })
const at = '2026-03-01T11:59:00Z'

type Row = { name: string; verdict: RequestProgress; is: object }
const rows: Row[] = [
  { name: 'a request without an answer is waited for', verdict: requestProgress(asked({}), 'r1'), is: { kind: 'waiting' } },
  {
    name: 'a request that was taken up names the commit',
    verdict: requestProgress(asked({ requests: [{ id: 'r1', ref: 'v2', outcome: 'Handled', at }] }), 'r1'),
    is: { outcome: { done: true, outcome: 'Handled', message: 'v2 is commit 1a2b3c4d, which is published', commit } },
  },
  {
    name: 'a refusal names what stays and explains the reason',
    verdict: requestProgress(
      asked({ requests: [{ id: 'r1', ref: 'v9', outcome: 'Refused', reason: 'RefNotFound', message: 'no v9', at }] }),
      'r1',
    ),
    is: {
      outcome: {
        done: false,
        reason: 'RefNotFound',
        message: 'v9 was refused: no v9; commit 1a2b3c4d of main stays published',
        meaning: /no such branch/,
      },
    },
  },
  {
    name: 'another request overtook it',
    verdict: requestProgress(asked({ requests: [{ id: 'r1', ref: 'v2', outcome: 'Superseded', message: 'a later one', at }] }), 'r1'),
    is: { outcome: { done: false, outcome: 'Superseded' } },
  },
  {
    name: 'a spec that nobody has seen is waited for',
    verdict: refProgress(asked({}, 2), commit),
    is: { kind: 'waiting', sentence: /has not observed/ },
  },
  { name: 'a source that follows another ref is waited for', verdict: refProgress(asked({}), earlier), is: { kind: 'waiting' } },
  {
    name: 'a ref whose commit is published is done',
    verdict: refProgress(asked({ source: { ref: commit, commit }, published: { commit, ref: commit, at } }), commit),
    is: { outcome: { done: true, commit } },
  },
  {
    name: 'a commit that is not there is refused, and says what stays',
    verdict: refProgress(asked({ conditions: [condition('SourceReady', 'False', 'RefNotFound', 'no such commit')] }), earlier),
    is: { outcome: { done: false, outcome: 'Refused', message: 'no such commit; commit 1a2b3c4d stays published' } },
  },
  {
    name: 'a host that is away is waited for',
    verdict: refProgress(asked({ conditions: [condition('SourceReady', 'False', 'GitUnreachable', 'no route')] }), earlier),
    is: { kind: 'waiting' },
  },
  {
    name: 'a commit that is held back is refused',
    verdict: refProgress(asked({ source: { ref: earlier, commit: earlier, held: 'CollectionsInvalid' } }), earlier),
    is: { outcome: { done: false, reason: 'CollectionsInvalid' } },
  },
  {
    name: 'a rollout ends when all is ready',
    verdict: rolloutProgress(asked({}), commit),
    is: { outcome: { done: true, outcome: 'InPlace' } },
  },
  {
    name: 'a rollout that is under way says how far it is',
    verdict: rolloutProgress(
      asked({
        gateways: counts({ total: 3, synced: 1, pending: 2 }),
        conditions: [condition('Ready', 'False', 'GatewaysPending', '2 of 3')],
      }),
      commit,
    ),
    is: { kind: 'waiting', sentence: '1 of 3 gateways run commit 1a2b3c4d' },
  },
  {
    name: 'a rollout that another commit ends says so',
    verdict: rolloutProgress(asked({}), earlier),
    is: { outcome: { done: false, outcome: 'Superseded' } },
  },
  {
    name: 'a rollout that stands still ends',
    verdict: rolloutProgress(
      asked({ conditions: [condition('Ready', 'False', 'Paused', 'spec.paused is true'), condition('Paused', 'True', 'Paused', 'it')] }),
      commit,
    ),
    is: { outcome: { done: false, outcome: 'Stuck', reason: 'Paused' } },
  },
  { name: 'a pause that nobody has seen is waited for', verdict: pauseProgress(asked({}, 2), true), is: { kind: 'waiting' } },
  {
    name: 'a pause is over when its condition has gone',
    verdict: pauseProgress(asked({}), false),
    is: { outcome: { done: true, outcome: 'Resumed' } },
  },
  {
    name: 'a pause is there when its condition says so',
    verdict: pauseProgress(asked({ conditions: [condition('Paused', 'True', 'Paused', 'it')] }), true),
    is: { outcome: { done: true, outcome: 'Paused', next: [/cluster-sync resume plant -n plant-a/] } },
  },
]

void t.test('each answer of the controller has its verdict', async (t) => {
  for (const { name, verdict, is } of rows) matchObject(t, verdict, is, name)
})

void t.test('a deadline ends the wait without failing the request', async (t) => {
  const outcome = lateOutcome(asked({}), 'the controller has not responded yet', 60_000)
  matchObject(t, outcome, { done: false, outcome: 'Unanswered', message: /after 60 s: .*; the request remains in effect/ })
  matchObject(t, outcomeText(asked({}), outcome, { width: 80, color: false, symbols: false }), [
    /^plant-a\/plant: after 60 s/,
    'remains in effect and may still complete (Timeout)',
    '  -> Show progress: cluster-sync status plant -n plant-a',
    '  -> Check whether the operator is running: cluster-sync check',
  ])
  const other = lateOutcome({ ...asked({}), context: 'plant-b' }, 'the controller has not responded yet', 60_000)
  t.strictSame(other.next, [
    'Show progress: cluster-sync status plant -n plant-a --context plant-b',
    'Check whether the operator is running: cluster-sync check --context plant-b',
  ])
})

void t.test('a rollback of an artifact targets its digest, which the history names', async (t) => {
  const [now, before] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`)
  const history: NonNullable<GatewaySyncStatus['history']> = [
    { commit, ref: `prod@${now}`, specRef: 'prod', at, outcome: 'Published' },
    { commit: earlier, ref: `prod@${before}`, specRef: 'prod', at, outcome: 'Published' },
  ]
  const status = { history, published: { commit, ref: `prod@${now}`, specRef: 'prod', at } }
  const facts = { ...syncFacts('plant', status), spec: { oci: { url: 'oci://registry.example/plant', tag: 'prod' } } }
  t.equal(specRefOf(facts.spec), 'prod')
  const { ref, notes } = rollbackTarget({ ...facts, specRef: 'prod' }, undefined)
  t.equal(ref, earlier)
  t.match(notes.at(-1), /set spec\.oci\.digest there too\.$/)
  t.equal(rollbackTarget({ ...facts, specRef: 'prod' }, 'bbbbbbbb').ref, earlier, 'by the first digits of the digest')
  t.strictSame(followRefPatch(facts, earlier), { ref: before, change: { spec: { oci: { tag: null, semver: null, digest: before } } } })
  t.strictSame(followRefPatch(facts, 'prod'), { ref: 'prod', change: { spec: { oci: { tag: 'prod', semver: null, digest: null } } } })
  t.strictSame(followRefPatch(facts, 'semver:1.x').change, { spec: { oci: { tag: null, semver: '1.x', digest: null } } })
  throwsError(t, () => followRefPatch(facts, 'f'.repeat(40)), { message: /the history names no artifact of commit ffffffff/ })
  t.strictSame(followRefPatch({ ...facts, spec: { git: {} } }, earlier).change, {
    spec: { git: { ref: earlier, semver: null, tagPattern: null } },
  })
})

void t.test('a rollback targets the previously published commit or the named one', async (t) => {
  const history: NonNullable<GatewaySyncStatus['history']> = [
    { commit: '5'.repeat(40), ref: 'main', at, outcome: 'Refused' },
    { commit, ref: 'main', at, outcome: 'Published' },
    { commit: earlier, ref: 'main', at, outcome: 'Published' },
  ]
  const facts = { ...syncFacts('plant', { history }), specRef: 'main' }
  matchObject(t, rollbackTarget(facts, undefined), { ref: earlier, notes: [/cluster-sync rollback plant -n plant-a --to main/, /GitOps/] })
  matchObject(t, rollbackTarget({ ...facts, context: 'b' }, undefined), {
    notes: [/ rollback plant -n plant-a --context b --to main/, /./],
  })
  t.equal(rollbackTarget(facts, '9988776').ref, earlier)
  t.equal(rollbackTarget(facts, 'f'.repeat(40)).ref, 'f'.repeat(40), 'a whole hash needs no history')
  t.strictSame(rollbackTarget(facts, 'main'), { ref: 'main', notes: [] })
  const versions = { ...facts, specRef: 'semver:>=1.2,<2' }
  matchObject(t, rollbackTarget(versions, undefined), { notes: [/ --to 'semver:>=1\.2,<2'$/, /GitOps/] }, 'a shell takes it as it is')
  matchObject(t, rollbackTarget({ ...facts, specRef: "tagPattern:it's-*" }, undefined), {
    notes: [/ --to 'tagPattern:it'\\''s-\*'$/, /GitOps/],
  })
  t.equal(rollbackTarget(facts, 'semver: >=1.2, <2').ref, 'semver:>=1.2,<2')
  throwsError(t, () => rollbackTarget(facts, 'semver:one'), { message: /^--to: "one" is not a SemVer range such as/ })
  throwsError(t, () => rollbackTarget(facts, '0123456'), {
    message: /no commit of the history begins with "0123456"; the history has 1a2b3c4d, 99887766/,
  })
  throwsError(
    t,
    () => rollbackTarget({ ...facts, status: { history: history.slice(0, 2), published: { commit, ref: 'main', at } } }, undefined),
    { message: /no other commit was published before/ },
  )
})
