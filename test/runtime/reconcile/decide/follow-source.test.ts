/**
 * Tests what an answer of the git host changes: source, published commit, findings, history, and the answer to a request.
 */
import t from 'tap'
import { type FollowedRef, followedRef } from '../../../../runtime/api/followed-ref.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { followSource } from '../../../../runtime/reconcile/decide/follow-source.ts'
import type { Observation, SourceObservation, Verdict } from '../../../../runtime/reconcile/decide/observation.ts'
import { desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const [commitA, commitB] = [parseCommitHash('a'.repeat(40)), parseCommitHash('b'.repeat(40))]
const now = Temporal.Instant.from('2026-01-01T00:00:00Z')
const at = '2026-01-01T00:00:00Z'
const before = '2025-01-01T00:00:00Z'
const { repo } = specWith().git

/** Main at commit A is published. */
const status: GatewaySyncStatus = {
  source: { ref: 'main', commit: commitA, checkedAt: before, fetchedAt: before },
  published: { commit: commitA, ref: 'main', repo, at: before },
  findings: { errors: 0, warnings: 1, items: [] },
  requests: [],
  history: [{ commit: commitA, ref: 'main', by: 'spec', at: before, outcome: 'Published' }],
}
const unchanged = { ...status, fault: undefined, events: [] }

type Resolved = Extract<SourceObservation, { kind: 'resolved' }>
const resolved = (more: Partial<Resolved> = {}): Resolved => ({
  kind: 'resolved',
  commit: commitB,
  committedAt: undefined,
  fetchedAt: at,
  verified: undefined,
  verdict: { kind: 'notChecked' },
  durationMs: 12.4,
  ...more,
})

const asking = (ref: string, more: { by?: string; at?: string } = {}) => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: 'r1',
  [requestAnnotations.specRef]: 'main',
  ...(more.by === undefined ? {} : { [requestAnnotations.by]: more.by }),
  ...(more.at === undefined ? {} : { [requestAnnotations.at]: more.at }),
})

function follow(source: SourceObservation, more: Partial<Observation> = {}) {
  const observed = {
    generation: 1,
    spec: specWith(),
    annotations: {},
    status,
    pods: [],
    reports: new Map(),
    delivery: undefined,
    now,
    ...more,
  }
  const desired = desiredRef(followedRef(observed.spec.git), observed.annotations, observed.status)
  const change = followSource({ desired, ...observed, source }, at)
  return { ...change, fault: change.fault?.reason }
}

const outcome = (ref: string, is: 'Handled' | 'Refused' | 'Pending', reason?: string, message?: string) => ({
  id: 'r1',
  ref,
  outcome: is,
  at,
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
})
const gone = new Fault('RefNotFound', 'no such ref')
const slow = new Fault('GitTimeout', 'slow')
const invalid: Verdict = { kind: 'checked', errors: 1, warnings: 2, items: [{ rule: 'r', severity: 'error', path: 'p', message: 'm' }] }
const refusedText = '1 error: p: m (r)'

void t.test('without an answer nothing changes, except for the fault of the last one', async (t) => {
  t.strictSame(follow({ kind: 'pending' }), unchanged)
  t.strictSame(follow({ kind: 'unchanged', lastFault: undefined }), unchanged)
  t.strictSame(follow({ kind: 'unchanged', lastFault: slow }), { ...unchanged, fault: 'GitTimeout' })
  t.strictSame(follow({ kind: 'pending' }, { status: {} }), {
    source: undefined,
    published: undefined,
    findings: undefined,
    requests: [],
    history: [],
    fault: undefined,
    events: [],
  })
})

const published = { commit: commitB, ref: 'main', repo, at }
const entry = { commit: commitB, ref: 'main', by: 'spec', at, outcome: 'Published', duration: '0.1s' }
const source = { ref: 'main', commit: commitB, checkedAt: at, fetchedAt: at }
const newCommit = {
  source,
  published,
  findings: undefined,
  requests: [],
  history: [entry, ...(status.history ?? [])],
  fault: undefined,
  events: [{ type: 'Normal', reason: 'Published', note: `published commit ${commitB} of main` }],
}

void t.test('a new commit is published and remembered once', async (t) => {
  t.strictSame(follow(resolved()), newCommit)
  t.strictSame(follow(resolved({ commit: commitA })), {
    ...unchanged,
    source: { ...source, commit: commitA },
    findings: undefined,
  })
  const verified = { commit: { key: 'K1' }, tag: { key: 'K2' } }
  const detailed = follow(resolved({ committedAt: before, resolvedRef: 'refs/heads/main', verified }))
  t.strictSame(detailed.source, { ...source, committedAt: before, resolvedRef: 'refs/heads/main', verified })
  t.strictSame(detailed.history[0], { ...entry, signedBy: 'K1, K2' })
  t.equal(follow(resolved({ verified: { commit: { key: 'K1' }, tag: { key: 'K1' } } })).history[0]?.signedBy, 'K1')
  t.equal(follow(resolved({ verified: { commit: { key: 'K1' } } })).history[0]?.signedBy, 'K1')
  t.equal(follow(resolved({ verified: { tag: { key: 'K2' } } })).history[0]?.signedBy, 'K2')
  t.equal('signedBy' in (follow(resolved({ verified: {} })).history[0] ?? {}), false)
})

void t.test('the history keeps ten entries, the newest first', async (t) => {
  const old = Array.from({ length: 12 }, (_, index) => ({ ...entry, commit: parseCommitHash(`${index % 10}`.repeat(40)) }) as never)
  t.strictSame(follow(resolved(), { status: { ...status, history: old } }).history, [entry, ...old.slice(0, 9)])
})

void t.test('checked content has its findings, at most fifty of them, and may be published in spite of errors', async (t) => {
  const items = Array.from({ length: 51 }, (_, index) => ({ rule: 'r', severity: 'warning' as const, path: `p${index}`, message: 'm' }))
  const checked = follow(resolved({ verdict: { kind: 'checked', errors: 0, warnings: 51, items } }))
  t.strictSame(checked, { ...newCommit, findings: { errors: 0, warnings: 51, items: items.slice(0, 50) } })
  for (const [unfinished, reason] of [
    [undefined, 'CollectionsInvalid'],
    ['key', 'ValidationFailed'],
  ] as const) {
    const verdict: Verdict = unfinished === undefined ? invalid : { ...invalid, unfinished }
    const more = unfinished === undefined ? {} : { unfinishedValidation: unfinished }
    const findings = { errors: 1, warnings: 2, items: invalid.items }
    t.strictSame(follow(resolved({ verdict }), { spec: specWith({ validation: { policy: 'Warn' } }) }), {
      ...newCommit,
      source: { ...source, ...more },
      findings,
      events: [...newCommit.events, { type: 'Warning', reason, note: `commit ${commitB} is published anyway: ${refusedText}` }],
    })
    const held = { ...source, ...more, held: reason }
    const refused = {
      ...unchanged,
      source: held,
      findings,
      history: [{ ...entry, outcome: 'Refused', reason, message: refusedText }, ...(status.history ?? [])],
      events: [{ type: 'Warning', reason, note: `commit ${commitB} is not published: ${refusedText}` }],
    }
    t.strictSame(follow(resolved({ verdict })), refused, 'under Enforce it is held')
    const known = { ...status, source: held }
    t.strictSame(follow(resolved({ verdict }), { status: known }), { ...refused, history: status.history, events: [] }, 'told once')
    const other = { ...known, source: { ...held, commit: commitA } }
    t.equal(follow(resolved({ verdict }), { status: other }).events.length, 1, 'of another commit')
    const otherwise = { ...known, source: { ...held, held: 'RolloutFailed' as const } }
    t.equal(follow(resolved({ verdict }), { status: otherwise }).events.length, 1, 'for another reason')
  }
})

void t.test('a commit without its signature is held with the fault', async (t) => {
  const fault = new Fault('NotVerified', 'x'.repeat(300))
  const { kind: _kind, verified: _verified, verdict: _verdict, ...found } = resolved()
  t.strictSame(follow({ kind: 'unverified', fault, ...found }), {
    ...unchanged,
    source: { ...source, held: 'NotVerified' },
    findings: undefined,
    history: [{ ...entry, outcome: 'Refused', reason: 'NotVerified', message: 'x'.repeat(256) }, ...(status.history ?? [])],
    fault: 'NotVerified',
    events: [{ type: 'Warning', reason: 'NotVerified', note: `commit ${commitB} is not published: ${'x'.repeat(300)}` }],
  })
})

void t.test('a handled request is answered, and the status names its origin', async (t) => {
  const annotations = asking('v2', { by: 'b'.repeat(200), at: `${at}${' '.repeat(100)}` })
  const requested = { ref: 'v2', id: 'r1', specRef: 'main', by: 'b'.repeat(128), at: `${at}${' '.repeat(44)}` }
  t.strictSame(follow(resolved(), { annotations }), {
    ...newCommit,
    source: { ...source, ref: 'v2', requested },
    published: { ...published, ref: 'v2' },
    requests: [outcome('v2', 'Handled')],
    history: [{ ...entry, ref: 'v2', by: 'b'.repeat(128) }, ...(status.history ?? [])],
    events: [{ type: 'Normal', reason: 'Published', note: `published commit ${commitB} of v2` }],
  })
  const byHand = follow(resolved(), { annotations: asking('v2') })
  t.strictSame([byHand.source?.requested, byHand.history[0]?.by], [{ ref: 'v2', id: 'r1', specRef: 'main' }, 'request'])
})

void t.test('a refused request for another ref changes only its own outcome', async (t) => {
  const annotations = asking('refs/tags/v2')
  t.strictSame(follow(resolved({ verdict: invalid }), { annotations }), {
    ...unchanged,
    requests: [outcome('refs/tags/v2', 'Refused', 'CollectionsInvalid', refusedText)],
    events: [{ type: 'Warning', reason: 'RequestRefused', note: `request for v2 refused: ${refusedText}` }],
  })
  t.strictSame(follow({ kind: 'fault', fault: gone }, { annotations }), {
    ...unchanged,
    requests: [outcome('refs/tags/v2', 'Refused', 'RefNotFound', 'no such ref')],
    events: [{ type: 'Warning', reason: 'RequestRefused', note: 'request for v2 refused: no such ref' }],
  })
})

void t.test('a refused request for the desired ref is answered, and the source follows', async (t) => {
  const annotations = asking('main')
  const found = follow(resolved({ verdict: invalid }), { annotations })
  t.strictSame(found.requests, [outcome('main', 'Refused', 'CollectionsInvalid', refusedText)])
  t.strictSame(found.source, { ...source, held: 'CollectionsInvalid' }, 'without the request')
  t.strictSame(follow({ kind: 'fault', fault: gone }, { annotations }), {
    ...unchanged,
    requests: [outcome('main', 'Refused', 'RefNotFound', 'no such ref')],
    fault: 'RefNotFound',
  })
})

void t.test('a temporary fault leaves a request open, and every fault is shown', async (t) => {
  for (const ref of ['main', 'v2'])
    t.strictSame(follow({ kind: 'fault', fault: slow }, { annotations: asking(ref) }), { ...unchanged, fault: 'GitTimeout' }, ref)
  for (const fault of [slow, gone]) {
    t.strictSame(follow({ kind: 'fault', fault }), { ...unchanged, fault: fault.reason })
    const none = follow({ kind: 'fault', fault }, { status: {} })
    t.strictSame([none.source, none.fault], [{ ref: 'main' }, fault.reason], 'of a ref that is not in the status yet')
    const spec = specWith({ git: { repo, ref: 'next' } })
    t.strictSame(follow({ kind: 'fault', fault }, { spec }).source, { ref: 'next' }, 'of a spec with another ref')
  }
  const request = { id: 'r0', ref: parseRefName('v2'), specRef: 'main', by: undefined, at: undefined }
  const standing = follow({ kind: 'fault', fault: slow }, { desired: { ref: request.ref, request, undecided: false } })
  t.strictSame(standing.source, { ref: 'v2', requested: { ref: 'v2', id: 'r0', specRef: 'main' } }, 'of a request that is in force')
})

void t.test('a push that the git host does not show yet stays pending for two minutes', async (t) => {
  const since = (age: number) => now.subtract({ seconds: age }).toString()
  const pending = (ref: string, age = 0) => ({ ...status, requests: [{ ...outcome(ref, 'Pending'), at: since(age) }] })
  for (const ref of ['main', 'v2']) {
    const annotations = asking(ref, { by: 'push' })
    const text = (reason: string, age: number) =>
      `${reason === 'RefNotFound' ? 'no such ref' : `the git host does not show the push to ${ref} yet`}; retried for two minutes since ${since(age)}`
    const expected = (reason: string, age = 0) => [{ ...outcome(ref, 'Pending', reason, text(reason, age)), at: since(age) }]
    const behind = follow(resolved({ commit: commitA, isBehind: true }), { annotations })
    t.strictSame(behind.requests, expected('PushNotVisible'), ref)
    if (ref === 'v2') t.strictSame({ ...behind, requests: [] }, unchanged, 'a request for another ref changes nothing else')
    else t.strictSame(behind.source?.checkedAt, at, 'the desired ref was checked')
    const missing = follow({ kind: 'fault', fault: gone }, { annotations })
    t.strictSame(missing, { ...unchanged, requests: expected('RefNotFound'), fault: ref === 'main' ? 'RefNotFound' : undefined })
    const still = follow({ kind: 'fault', fault: gone }, { annotations, status: pending(ref, 119) })
    t.strictSame(still.requests, expected('RefNotFound', 119))
    const late = follow({ kind: 'fault', fault: gone }, { annotations, status: pending(ref, 120) })
    t.strictSame(late.requests, [outcome(ref, 'Refused', 'RefNotFound', 'no such ref')], 'after two minutes')
    const lasting = follow({ kind: 'fault', fault: new Fault('InvalidRef', 'bad') }, { annotations })
    t.strictSame(lasting.requests, [outcome(ref, 'Refused', 'InvalidRef', 'bad')], 'a fault that time does not cure')
    const byHand = follow({ kind: 'fault', fault: gone }, { annotations: asking(ref) })
    t.strictSame(byHand.requests, [outcome(ref, 'Refused', 'RefNotFound', 'no such ref')], 'a request by annotation')
  }
  t.strictSame(follow(resolved({ isBehind: true })), newCommit, 'without a request')
})

void t.test('people see what a default branch, a selector or a tag of an artifact resolved to', async (t) => {
  const revision = `v1@sha256:${'1'.repeat(64)}`
  const range = 'semver:>=1.2,<2'
  const rows: [desired: string, resolvedRef: string | undefined, seen: { ref: string; specRef?: string }, short: string][] = [
    ['HEAD', 'refs/heads/main', { ref: 'refs/heads/main', specRef: 'HEAD' }, 'main'],
    ['HEAD', undefined, { ref: 'HEAD' }, 'HEAD'],
    [range, 'refs/tags/v1.4.0', { ref: 'refs/tags/v1.4.0', specRef: range }, 'v1.4.0'],
    ['main', 'refs/heads/main', { ref: 'main' }, 'main'],
    ['refs/heads/main', 'refs/heads/main', { ref: 'refs/heads/main' }, 'main'],
    ['v1', revision, { ref: revision, specRef: 'v1' }, revision],
    [revision, revision, { ref: revision }, revision],
  ]
  for (const [ref, resolvedRef, seen, short] of rows) {
    const desired = { ref: ref as FollowedRef, request: undefined, undecided: false }
    const change = follow(resolved(resolvedRef === undefined ? {} : { resolvedRef }), { desired })
    const { commit: _commit, repo: _repo, at: _at, ...named } = change.published ?? {}
    t.strictSame(named, seen, ref)
    const [{ commit: _published, by: _by, at: _then, outcome: _outcome, duration: _duration, ...remembered } = {}] = change.history
    t.strictSame(remembered, seen, ref)
    t.equal(change.events[0]?.note, `published commit ${commitB} of ${short}`)
    t.equal(change.source?.ref, ref)
  }
})

void t.test('the time of publication stays only while commit and ref do', async (t) => {
  const git = (ref: string) => ({ spec: specWith({ git: { repo, ref } }) })
  t.equal(follow(resolved({ commit: commitA })).published?.at, before)
  t.equal(follow(resolved({ commit: commitA }), git('next')).published?.at, at)
  t.equal(follow(resolved()).published?.at, at)
})

void t.test('a commit without errors is published under every policy, and one with errors is held only under Enforce', async (t) => {
  const sound: Verdict = { ...invalid, errors: 0, items: [] }
  for (const policy of ['Enforce', 'Warn', 'Off'] as const) {
    const spec = specWith({ validation: { policy } })
    const good = follow(resolved({ verdict: sound }), { spec })
    t.strictSame([good.published?.commit, good.source?.held, good.events.length], [commitB, undefined, 1], policy)
    const bad = follow(resolved({ verdict: invalid }), { spec })
    const expected = policy === 'Enforce' ? [commitA, 'CollectionsInvalid'] : [commitB, undefined]
    t.strictSame([bad.published?.commit, bad.source?.held], expected, policy)
  }
})

void t.test('a commit that was rolled back is held like any refused one', async (t) => {
  const spec = specWith({ rollout: { stages: [{ name: 'all' }] } })
  const refused = { commit: commitB, ref: 'main' }
  const rollout = {
    state: 'RolledBack',
    id: at,
    commit: commitA,
    configurations: {},
    startedAt: at,
    message: 'it failed',
    refused,
  } as const
  const rolled = { ...status, rollout }
  const held = follow(resolved(), { spec, status: rolled })
  t.strictSame([held.published, held.source?.held, held.fault], [status.published, 'RolloutFailed', undefined])
  t.strictSame(held.events, [{ type: 'Warning', reason: 'RolloutFailed', note: `commit ${commitB} is not published: it failed` }])
  t.equal(follow(resolved(), { status: rolled }).published?.commit, commitB, 'without a rollout in the spec')
})

void t.test('a lasting fault answers a request and names the ref of the source, and a temporary one changes neither', async (t) => {
  const annotations = asking('main')
  const lasting = follow({ kind: 'fault', fault: gone }, { annotations, status: {} })
  t.strictSame([lasting.source, lasting.fault], [{ ref: 'main' }, 'RefNotFound'], 'an answered request is not in force')
  const waiting = follow({ kind: 'fault', fault: slow }, { annotations, status: {} })
  t.strictSame([waiting.source, waiting.requests], [undefined, []], 'an open one changes nothing yet')
})
