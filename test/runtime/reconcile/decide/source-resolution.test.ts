import * as v from 'valibot'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import {
  dueForResolution,
  isNewAnswer,
  type LastResolution,
  longestPollMs,
  type SharedResolution,
  storedSource,
} from '../../../../runtime/reconcile/decide/source-resolution.ts'
import type { DesiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))

const desired: DesiredRef = { ref: parseRefName('main'), request: undefined, undecided: false }
const asked: DesiredRef = {
  ref: parseRefName('v1'),
  request: { id: 'r1', ref: parseRefName('v1'), specRef: 'main', by: undefined, at: undefined },
  undecided: true,
}
const good: LastResolution = {
  specKey: 's',
  resolutionKey: 'q',
  ref: 'main',
  requestId: undefined,
  atMs: 1_000,
  commit: commitA,
  hostAnswer: commitA,
  failures: 0,
  earlierFailures: 0,
  fault: undefined,
}
const shared = (changes: Partial<SharedResolution>): SharedResolution => ({
  atMs: 31_000,
  hostAnswer: commitA,
  failures: 0,
  fault: undefined,
  ...changes,
})
const passing = new Fault('GitTimeout', 'slow')
const pausing = (seconds: number) => new Fault('GitUnreachable', 'busy', { retryAfterMs: seconds * 1_000 })
const lasting = new Fault('RefNotFound', 'no such ref')

function spec(polling: { enabled?: boolean; interval?: string } = {}) {
  return v.parse(gatewaySyncSpec({ allowLocal: false }), {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    polling,
    sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] } } },
  })
}

/** A spec of a later release. */
function withInterval(interval: string) {
  const { polling, ...others } = spec()
  return { ...others, polling: { ...polling, interval } }
}

void t.test('the longest time between two polls is the interval and a tenth', async (t) => {
  t.equal(longestPollMs(spec({ interval: '10m' })), 660_000)
  t.equal(longestPollMs(withInterval('often')), 66_000)
})

void t.test('a shared answer is new if it differs from the last one of the host', async (t) => {
  t.equal(isNewAnswer(shared({ hostAnswer: commitB }), good), true)
  t.equal(isNewAnswer(shared({}), good), false)
  t.equal(isNewAnswer(shared({ hostAnswer: undefined }), good), true)
  t.equal(isNewAnswer(shared({ hostAnswer: commitB }), { ...good, hostAnswer: undefined }), false, 'the host was not queried')
})

void t.test('a source resolution starts when it is due and not before', async (t) => {
  const base: Parameters<typeof dueForResolution>[0] = {
    spec: spec(),
    desired,
    resolutionKey: 'q',
    last: good,
    shared: undefined,
    nowMs: 2_000,
    jitter: 0.5,
  }
  const pending = { desired: asked, last: { ...good, requestId: 'r1' } }
  const rows: [string, Partial<typeof base>, unknown][] = [
    ['never asked', { last: undefined }, { kind: 'now', why: 'first' }],
    ['asked a second ago', {}, { kind: 'later', inMs: 59_000 }],
    ['asked an interval ago', { nowMs: 61_000 }, { kind: 'now', why: 'poll' }],
    ['jitter shortens the interval by a tenth at most', { nowMs: 55_000, jitter: 0 }, { kind: 'now', why: 'poll' }],
    ['jitter lengthens it by a tenth at most', { nowMs: 61_000, jitter: 1 }, { kind: 'later', inMs: 6_000 }],
    ['another lookup', { resolutionKey: 'other' }, { kind: 'now', why: 'changed' }],
    ['a request that nobody asked about', { desired: asked }, { kind: 'now', why: 'request' }],
    ['polling off', { spec: spec({ enabled: false }), nowMs: 900_000 }, { kind: 'later', inMs: undefined }],
    ['a passing fault just now', { last: { ...good, failures: 1, fault: passing } }, { kind: 'later', inMs: 29_000 }],
    [
      'a passing fault before anything was known',
      { last: { ...good, commit: undefined, failures: 1, fault: passing } },
      { kind: 'later', inMs: 4_000 },
    ],
    [
      'a passing fault, polling off',
      { last: { ...good, failures: 1, fault: passing }, spec: spec({ enabled: false }), nowMs: 31_000 },
      { kind: 'now', why: 'retry' },
    ],
    ['a host that asks for a pause', { last: { ...good, failures: 1, fault: pausing(120) }, jitter: 0 }, { kind: 'later', inMs: 119_000 }],
    [
      'those who are asked for a pause do not come back at once',
      { last: { ...good, failures: 1, fault: pausing(120) }, jitter: 1 },
      { kind: 'later', inMs: 131_000 },
    ],
    [
      'a pause that is shorter than the wait after a failure',
      { last: { ...good, failures: 1, fault: pausing(1) } },
      { kind: 'later', inMs: 29_000 },
    ],
    ['a pause of a day', { last: { ...good, failures: 1, fault: pausing(86_400) } }, { kind: 'later', inMs: 299_000 }],
    [
      'a pause of a day, polled hourly',
      { last: { ...good, failures: 1, fault: pausing(86_400) }, spec: spec({ interval: '1h' }) },
      { kind: 'later', inMs: 3_599_000 },
    ],
    [
      'a new request during a pause',
      { last: { ...good, failures: 1, fault: pausing(120) }, desired: asked },
      { kind: 'now', why: 'request' },
    ],
    [
      'the thousandth failure waits no longer than the cap',
      { last: { ...good, failures: 1_000, fault: passing } },
      { kind: 'later', inMs: 299_000 },
    ],
    ['a lasting fault is looked at with the polls', { last: { ...good, failures: 1, fault: lasting } }, { kind: 'later', inMs: 59_000 }],
    ['somebody else was told the same since', { shared: shared({}), nowMs: 61_000 }, { kind: 'later', inMs: 30_000 }],
    ['somebody else was told of another commit', { shared: shared({ hostAnswer: commitB }) }, { kind: 'now', why: 'shared' }],
    [
      'somebody else met a fault',
      { shared: shared({ hostAnswer: 'GitTimeout', failures: 1, fault: passing }) },
      { kind: 'now', why: 'shared' },
    ],
    [
      'somebody else met the same fault again',
      {
        last: { ...good, hostAnswer: 'GitTimeout', failures: 1, fault: passing },
        shared: shared({ hostAnswer: 'GitTimeout', failures: 2, fault: passing }),
        nowMs: 61_000,
      },
      { kind: 'later', inMs: 30_000 },
    ],
    [
      'somebody else reached the host again',
      { last: { ...good, hostAnswer: 'GitTimeout', failures: 3, fault: passing }, shared: shared({}) },
      { kind: 'now', why: 'shared' },
    ],
    [
      'what somebody else was told before counts no more',
      { shared: shared({ hostAnswer: commitB, atMs: 500 }) },
      { kind: 'later', inMs: 59_000 },
    ],
    [
      'somebody else was told of another commit, polling off',
      { shared: shared({ hostAnswer: commitB }), spec: spec({ enabled: false }) },
      { kind: 'later', inMs: undefined },
    ],
    [
      'somebody else met a fault, polling off',
      { shared: shared({ hostAnswer: 'GitTimeout', failures: 1, fault: passing }), spec: spec({ enabled: false }), nowMs: 900_000 },
      { kind: 'later', inMs: undefined },
    ],
    [
      'somebody else reached the host again, polling off',
      { last: { ...good, hostAnswer: 'GitTimeout', failures: 3, fault: passing }, shared: shared({}), spec: spec({ enabled: false }) },
      { kind: 'now', why: 'shared' },
    ],
    [
      'a request that has met a passing fault',
      { desired: asked, last: { ...good, requestId: 'r1', failures: 2, fault: passing } },
      { kind: 'later', inMs: 9_000 },
    ],
    [
      'a request that waits while somebody else meets the same fault again, which others had met ten times before it came',
      {
        desired: asked,
        last: { ...good, requestId: 'r1', hostAnswer: 'GitTimeout', failures: 1, earlierFailures: 10, fault: passing },
        shared: shared({ hostAnswer: 'GitTimeout', failures: 12, fault: passing }),
        nowMs: 31_000,
      },
      { kind: 'later', inMs: 10_000 },
    ],
    ['a request that has its answer', { desired: { ...asked, undecided: false } }, { kind: 'later', inMs: 59_000 }],
    ['a pending request at first', { ...pending, pendingMs: 0, nowMs: 1_999 }, { kind: 'later', inMs: 1 }],
    ['a pending request after a second', { ...pending, pendingMs: 0 }, { kind: 'now', why: 'retry' }],
    ['a pending request after 10 seconds', { ...pending, pendingMs: 10_000 }, { kind: 'later', inMs: 4_000 }],
    ['a pending request after a minute', { ...pending, pendingMs: 60_000 }, { kind: 'later', inMs: 14_000 }],
    ['a request that has its answer was pending', { pendingMs: 0 }, { kind: 'later', inMs: 59_000 }],
    ['another answer at the same time', { shared: shared({ hostAnswer: commitB, atMs: 1_000 }) }, { kind: 'later', inMs: 59_000 }],
    [
      'another answer, and the host was not queried before',
      { last: { ...good, hostAnswer: undefined }, shared: shared({ hostAnswer: commitB }), nowMs: 61_000 },
      { kind: 'later', inMs: 30_000 },
    ],
    ['an interval that cannot be read', { spec: withInterval('often') }, { kind: 'later', inMs: 59_000 }],
  ]
  for (const [name, changes, due] of rows) t.strictSame(dueForResolution({ ...base, ...changes }), due, name)
})

void t.test('without an answer of the host, the stored source counts while it belongs to the spec', async (t) => {
  const at = '2026-01-01T00:00:00Z'
  const ready = (status: 'True' | 'False' | 'Unknown', reason: string) => [
    { type: 'Ready', status: 'False' as const, reason: 'GitTimeout', message: 'slow', lastTransitionTime: at, observedGeneration: 3 },
    { type: 'SourceReady', status, reason, message: 'no such ref', lastTransitionTime: at, observedGeneration: 3 },
  ]
  const base: Parameters<typeof storedSource>[0] = {
    generation: 3,
    status: { observedGeneration: 3, source: { ref: 'main' }, conditions: ready('True', 'Resolved') },
    desired,
    specKey: 's',
    last: good,
  }
  const of = (status: (typeof base)['status']) => ({ status: { ...base.status, ...status } })
  const pending = { kind: 'pending' }
  const rows: [string, Partial<typeof base>, unknown][] = [
    ['the spec of the last resolution', {}, { kind: 'unchanged', lastFault: undefined }],
    ['another spec', { last: { ...good, specKey: 'before' } }, pending],
    ['another ref', of({ source: { ref: 'other' } }), pending],
    [
      'another ref, for a request without an outcome',
      { ...of({ source: { ref: 'other' } }), desired: asked },
      { kind: 'unchanged', lastFault: undefined },
    ],
    ['a fault', { last: { ...good, fault: passing } }, { kind: 'unchanged', lastFault: passing }],
    ['a lasting fault of the ref', { last: { ...good, fault: lasting } }, { kind: 'unchanged', lastFault: lasting }],
    [
      'a lasting fault of a request for another ref',
      { last: { ...good, ref: 'v1', requestId: 'r1', fault: lasting } },
      { kind: 'unchanged', lastFault: undefined },
    ],
    [
      'a passing fault of a request for another ref',
      { last: { ...good, ref: 'v1', requestId: 'r1', fault: passing } },
      { kind: 'unchanged', lastFault: passing },
    ],
    ['a new process, and the status of this generation', { last: undefined }, { kind: 'unchanged', lastFault: undefined }],
    ['a new process, and the status of an earlier generation', { last: undefined, generation: 4 }, pending],
    ['a new process, and an unknown source', { last: undefined, ...of({ conditions: ready('Unknown', 'Progressing') }) }, pending],
    [
      'a new process, and a recorded fault',
      { last: undefined, ...of({ conditions: ready('False', 'RefNotFound') }) },
      { kind: 'unchanged', lastFault: lasting },
    ],
    [
      'a lasting fault of the followed request',
      { last: { ...good, ref: 'refs/heads/main', requestId: 'r1', fault: lasting } },
      { kind: 'unchanged', lastFault: lasting },
    ],
    [
      'a lasting fault of another ref without a request',
      { last: { ...good, ref: 'v1', fault: lasting } },
      { kind: 'unchanged', lastFault: lasting },
    ],
    [
      'a new process, and a ready source with the reason of a fault',
      { last: undefined, ...of({ conditions: ready('True', 'RefNotFound') }) },
      { kind: 'unchanged', lastFault: undefined },
    ],
    ['a new process, and no conditions', { last: undefined, ...of({ conditions: [] }) }, { kind: 'unchanged', lastFault: undefined }],
    [
      'a new process, and a reason that is no fault of this release',
      { last: undefined, ...of({ conditions: ready('False', 'toString') }) },
      { kind: 'unchanged', lastFault: undefined },
    ],
  ]
  for (const [name, changes, source] of rows) t.strictSame(storedSource({ ...base, ...changes }), source, name)
})
