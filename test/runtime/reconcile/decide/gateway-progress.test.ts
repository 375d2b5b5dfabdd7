/**
 * Tests the progress of one gateway in a rollout: what fails it, what it is waited for, and what excludes it.
 */
import t from 'tap'
import type { CheckRecord } from '../../../../runtime/api/check-record.ts'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { progressOf } from '../../../../runtime/reconcile/decide/gateway-progress.ts'
import { type GatewayPod, type GatewayState, parseReport, type Reports } from '../../../../runtime/reconcile/decide/gateways.ts'
import { questionOf } from '../../../../runtime/reconcile/rollout/check-question.ts'
import { shortSyncHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import { podWith } from '../../../support/gatewaysync.ts'
import { commitOf } from '../../../support/staged-fleet.ts'

const staged = { pod: 'gw', name: 'gw', labels: {} }

void t.test('a gateway that writes nothing is excluded, and one without an agent is waited for', (t) => {
  const pod = podWith('gw', { annotations: { [podAnnotations.profile]: 'line' } })
  const of = (state: GatewayState, paused: string, pods = [pod]) => {
    const gateway = { pod: 'gw', state, reason: undefined, message: undefined, commit: undefined, mode: undefined }
    const context = {
      target: { version: { commit: commitOf(2), ref: 'main' }, configurations: {} },
      since: undefined,
      check: () => undefined,
      answers: new Map(),
      nowMs: 0,
      paused: (profile: string) => profile === paused,
    }
    const [found] = progressOf([gateway], pods, new Map(), context)
    return found
  }
  t.strictSame(of('paused', 'line'), { ...staged, progress: 'excluded' })
  t.strictSame(of('paused', 'default'), { ...staged, progress: 'moving' }, 'the agent has not observed the end of the pause')
  t.strictSame(of('paused', 'default', []), { ...staged, progress: 'excluded' }, 'a pod without an annotation has the default profile')
  t.strictSame(of('dryRun', 'none'), { ...staged, progress: 'excluded' })
  t.strictSame(of('pending', 'line'), { ...staged, progress: 'moving' })
  t.strictSame(of('missingAgent', 'none'), { ...staged, progress: 'moving', lacks: 'Unexpected', hasNoAgent: true })
  t.end()
})

const hash = (digit: string) => `v1-${digit.repeat(64)}`
const target = {
  version: { commit: commitOf(2), ref: 'main' },
  configurations: { default: shortSyncHash(hash('a')), line: shortSyncHash(hash('b')) },
}
type ProgressGiven = Partial<Parameters<typeof progressOf>[3]> & {
  state?: GatewayState
  reason?: string
  report?: Partial<SyncReportStatus>
  pod?: Partial<GatewayPod>
  pods?: readonly GatewayPod[]
  reports?: Reports
}

/** Returns the progress of one gateway, by default of one that is synced. */
function progressWith({ state = 'synced', reason, report, reports, pod = {}, pods = [podWith('gw', pod)], ...context }: ProgressGiven) {
  const gateway = { pod: 'gw', state, reason, message: undefined, commit: undefined, mode: undefined }
  const own = new Map(report === undefined ? [] : ([['gw', parseReport('uid-gw', { phase: 'Synced', ...report })]] as const))
  const base = { target, since: undefined, check: () => undefined, answers: new Map(), nowMs: 0, paused: () => false }
  const [found] = progressOf([gateway], pods, reports ?? own, { ...base, ...context })
  return found
}
void t.test('a gateway is selected by the labels of its pod and by its name', (t) => {
  const pod = { labels: { line: '1' }, annotations: { [podAnnotations.gatewayName]: 'press' } }
  t.strictSame(progressWith({ pod }), { pod: 'gw', name: 'press', labels: { line: '1' }, progress: 'updated' })
  t.strictSame(progressWith({ pods: [] }), { ...staged, progress: 'updated' })
  t.end()
})

void t.test('new problems since the rollout began are a failure, within a minute of clock difference', (t) => {
  const since = '2026-01-01T00:10:00Z'
  const after = (healthSince: string, newProblems: string[], rolloutSince?: string) =>
    progressWith({ since: rolloutSince, report: { health: { since: healthSince, newProblems } } })
  const harmed = { ...staged, progress: 'failed', reason: 'NewProblems' }
  const well = { ...staged, progress: 'updated' }
  t.strictSame(after('2026-01-01T00:09:00Z', ['p'], since), harmed)
  t.strictSame(after('2026-01-01T00:08:59Z', ['p'], since), well, 'of an earlier rollout')
  t.strictSame(after('2026-01-01T00:20:00Z', [], since), well)
  t.strictSame(after('2026-01-01T00:20:00Z', ['p']), well, 'no rollout is under way')
  t.strictSame(progressWith({ since, report: {} }), well)
  t.strictSame(progressWith({ since }), well)
  t.end()
})

void t.test('an exit of the gateway is a failure from the second of the commit until an hour later', (t) => {
  const since = '2026-01-01T00:10:00.900Z'
  const ended = (gatewayEndedAt: string, more: { newProblems?: string[] } = {}) =>
    progressWith({ since, pod: { gatewayEndedAt }, report: { health: { since, ...more } } })
  const restarted = { ...staged, progress: 'failed', reason: 'GatewayRestarted' }
  const well = { ...staged, progress: 'updated' }
  t.strictSame(ended('2026-01-01T00:09:59Z'), well)
  t.strictSame(ended('2026-01-01T00:10:00Z'), restarted)
  t.strictSame(ended('2026-01-01T01:10:00Z'), restarted)
  t.strictSame(ended('2026-01-01T01:10:01Z'), well)
  t.strictSame(ended('2026-01-01T00:10:00Z', { newProblems: ['p'] }), { ...restarted, reason: 'NewProblems' })
  t.strictSame(progressWith({ since, report: { health: { since } } }), well, 'it never ended')
  t.strictSame(progressWith({ since, report: { health: { since } }, pods: [] }), well)
  t.end()
})

void t.test('a failure counts if it is lasting, about the target, and not of local changes alone', (t) => {
  const attempt = { commit: commitOf(2), syncHash: hash('b') }
  const of = (state: GatewayState, reason: string | undefined, report: Partial<SyncReportStatus> | undefined) => {
    const { progress, ...more } =
      progressWith({ state, ...(reason === undefined ? {} : { reason }), ...(report === undefined ? {} : { report }) }) ?? {}
    t.strictSame(more, progress === 'failed' ? { ...staged, reason } : staged)
    return progress
  }
  for (const state of ['failed', 'blocked'] as const) {
    t.equal(of(state, 'TemplateFailed', { attempt }), 'failed')
    t.equal(of(state, 'ScanFailed', { attempt }), 'failed')
    t.equal(of(state, 'LocalChanges', { attempt }), 'held')
    for (const reason of ['ControllerUnavailable', 'ReasonOfALaterRelease', 'toString'])
      t.equal(of(state, reason, { attempt }), 'moving', reason)
    t.equal(of(state, 'TemplateFailed', { attempt: { ...attempt, commit: commitOf(1) } }), 'moving', 'another commit')
    t.equal(of(state, 'TemplateFailed', { attempt: { ...attempt, syncHash: hash('c') } }), 'moving', 'another configuration')
    t.equal(of(state, 'LocalChanges', { attempt: { ...attempt, commit: commitOf(1) } }), 'moving')
    t.equal(of(state, 'TemplateFailed', {}), 'moving', 'nothing was tried')
    t.equal(of(state, 'TemplateFailed', undefined), 'moving', 'there is no report')
  }
  t.equal(of('pending', 'TemplateFailed', { attempt }), 'moving', 'it has not failed')
  t.end()
})

void t.test('a report that cannot be read fails no gateway, and answers no check', (t) => {
  const reports = new Map([['gw', parseReport('uid-gw', 'nonsense')]])
  const progress = (more: ProgressGiven) => progressWith({ reports, ...more })?.progress
  t.equal(progress({ state: 'failed', reason: 'MalformedReport' }), 'moving')
  t.equal(progress({ since: '2026-01-01T00:00:00Z' }), 'updated')
  t.equal(progress({ check: () => ({ http: { path: '/health', status: 200 } }) }), 'moving')
  t.end()
})

void t.test('a gateway with a check is updated once the check has passed', (t) => {
  const http = { path: '/health', status: 200 }
  const of = (state?: 'Passed' | 'Failed' | 'Unknown') =>
    progressWith({ check: () => ({ http }), report: state === undefined ? {} : { healthCheck: { state, since: '2026-01-01T00:00:00Z' } } })
  const unanswered = { ...staged, progress: 'moving', lacks: 'HealthCheckUnanswered' }
  t.strictSame(of('Passed'), { ...staged, progress: 'updated' })
  t.strictSame(of('Failed'), { ...staged, progress: 'failed', reason: 'HealthCheckFailed' })
  t.strictSame(of('Unknown'), unanswered)
  t.strictSame(of(), unanswered)
  t.strictSame(progressWith({ check: () => ({ http }) }), unanswered, 'there is no report')
  const asked: string[] = []
  const check = (profile: string) => void asked.push(profile)
  progressWith({ check, pod: { annotations: { [podAnnotations.profile]: 'line' } } })
  progressWith({ check })
  t.strictSame(asked, ['line', 'default'], 'the check of its profile')
  t.end()
})

void t.test('Prometheus is asked about a gateway whose own check has passed, and its answer counts for that question alone', (t) => {
  const prometheus = { url: 'http://prometheus:9090', query: 'up{pod="{{ gateway.pod }}"}' }
  const questionFor = (configuration: string) =>
    questionOf(prometheus, { pod: 'gw', name: 'gw', namespace: 'plant', commit: commitOf(2), configuration })
  const question = questionFor(target.configurations.default)
  const of = (more: ProgressGiven) => progressWith({ check: () => ({ prometheus }), nowMs: 100_000, ...more })
  const unanswered = { ...staged, question, progress: 'moving', lacks: 'HealthCheckUnanswered' }
  const answer = (record: object, about = question?.about ?? '') => ({
    answers: new Map([['gw', { about, record: { sinceMs: 0, ...record } as CheckRecord }]]),
  })
  t.strictSame(of({}), unanswered)
  t.strictSame(of(answer({ state: 'Passed', answeredMs: 40_000 })), { ...staged, question, progress: 'updated' })
  t.strictSame(of(answer({ state: 'Passed', answeredMs: 39_999 })), { ...unanswered, why: 'there was no answer for a minute' })
  t.strictSame(of(answer({ state: 'Passed', answeredMs: 100_000 }, 'another question')), unanswered)
  t.strictSame(of(answer({ state: 'Failed', answeredMs: 100_000, why: 'no' })), {
    ...staged,
    question,
    progress: 'failed',
    reason: 'HealthCheckFailed',
    why: 'no',
  })
  t.strictSame(of({ pods: [] }), { ...staged, progress: 'updated' }, 'the pod is gone')
  const named = (annotations: Record<string, string>) => of({ pod: { annotations } })
  t.strictSame(named({ [podAnnotations.profile]: 'line' }), { ...unanswered, question: questionFor(target.configurations.line) })
  t.strictSame(named({ [podAnnotations.profile]: 'toString' }), { ...unanswered, question: questionFor('') }, 'an unknown profile')
  t.strictSame(named({ [podAnnotations.gatewayName]: 'a"b' }), {
    ...staged,
    name: 'a"b',
    progress: 'moving',
    lacks: 'HealthCheckUnanswered',
    why: 'its name cannot be used in a query',
  })
  const both = { check: () => ({ prometheus, http: { path: '/health', status: 200 } }) }
  t.strictSame(of({ ...both, report: {} }), { ...staged, progress: 'moving', lacks: 'HealthCheckUnanswered' }, 'its own check comes first')
  t.strictSame(of({ ...both, report: { healthCheck: { state: 'Passed', since: '2026-01-01T00:00:00Z' } } }), unanswered)
  t.end()
})
