import * as v from 'valibot'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { dueForResolution, type LastResolution, type SharedResolution } from '../../../../runtime/reconcile/decide/source-resolution.ts'
import type { DesiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))

const wanted: DesiredRef = { ref: parseRefName('main'), request: undefined, undecided: false }
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

void t.test('a source resolution starts when it is due and not before', async (t) => {
  const base: Parameters<typeof dueForResolution>[0] = {
    spec: spec(),
    wanted,
    resolutionKey: 'q',
    last: good,
    shared: undefined,
    nowMs: 2_000,
    jitter: 0.5,
  }
  const rows: [string, Partial<typeof base>, unknown][] = [
    ['never asked', { last: undefined }, { kind: 'now', why: 'first' }],
    ['asked a second ago', {}, { kind: 'later', inMs: 59_000 }],
    ['asked an interval ago', { nowMs: 61_000 }, { kind: 'now', why: 'poll' }],
    ['jitter shortens the interval by a tenth at most', { nowMs: 55_000, jitter: 0 }, { kind: 'now', why: 'poll' }],
    ['jitter lengthens it by a tenth at most', { nowMs: 61_000, jitter: 1 }, { kind: 'later', inMs: 6_000 }],
    ['another lookup', { resolutionKey: 'other' }, { kind: 'now', why: 'changed' }],
    ['a request that nobody asked about', { wanted: asked }, { kind: 'now', why: 'request' }],
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
      { last: { ...good, failures: 1, fault: pausing(120) }, wanted: asked },
      { kind: 'now', why: 'request' },
    ],
    [
      'the thousandth failure waits no longer than the cap',
      { last: { ...good, failures: 1_000, fault: passing } },
      { kind: 'later', inMs: 299_000 },
    ],
    ['a lasting fault is looked at with the polls', { last: { ...good, failures: 1, fault: lasting } }, { kind: 'later', inMs: 59_000 }],
    ['somebody else was told the same since', { shared: shared({}), nowMs: 61_000 }, { kind: 'later', inMs: 30_000 }],
    ['somebody else was told of another commit', { shared: shared({ hostAnswer: commitB }) }, { kind: 'now', why: 'news' }],
    [
      'somebody else met a fault',
      { shared: shared({ hostAnswer: 'GitTimeout', failures: 1, fault: passing }) },
      { kind: 'now', why: 'news' },
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
      { kind: 'now', why: 'news' },
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
      { kind: 'now', why: 'news' },
    ],
    [
      'a request that has met a passing fault',
      { wanted: asked, last: { ...good, requestId: 'r1', failures: 2, fault: passing } },
      { kind: 'later', inMs: 9_000 },
    ],
    [
      'a request that waits while somebody else meets the same fault again, which others had met ten times before it came',
      {
        wanted: asked,
        last: { ...good, requestId: 'r1', hostAnswer: 'GitTimeout', failures: 1, earlierFailures: 10, fault: passing },
        shared: shared({ hostAnswer: 'GitTimeout', failures: 12, fault: passing }),
        nowMs: 31_000,
      },
      { kind: 'later', inMs: 10_000 },
    ],
  ]
  for (const [name, changes, due] of rows) t.strictSame(dueForResolution({ ...base, ...changes }), due, name)
})
