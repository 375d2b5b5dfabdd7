/**
 * Tests which gateways a capture request concerns, which branch a gateway uses, and how the status reports captures.
 */
import t from 'tap'
import {
  answers,
  askedOf,
  captureAfter,
  ofRepository,
  captureBranch,
  captureRequest,
  changesAskedOf,
  driftRequest,
  isTooSoon,
  quietOf,
} from '../../../../runtime/reconcile/decide/capture.ts'
import { captureAnnotations, changesAnnotations } from '../../../../runtime/api/names.ts'
import { type CaptureEntry, maxCaptured } from '../../../../runtime/api/schema/capture-spec.ts'
import type { CaptureSpec } from '../../../../runtime/api/schema/spec.ts'
import { matchObject } from '../../../support/assertions.ts'

const spec: CaptureSpec = {
  enabled: true,
  branch: 'captured/{{ gateway.name }}',
  auth: { token: { secretRef: { name: 'push', key: 'token' } } },
  trigger: 'Request',
  pullRequest: false,
}
const asked = { [captureAnnotations.at]: 'now', [captureAnnotations.by]: 'maria' }
const press = { pod: 'gw-0', gateway: 'press' }
const commit = 'a'.repeat(40)
const at = '2026-03-01T12:00:00Z'

function entry(pod: string, more: Partial<CaptureEntry> = {}): CaptureEntry {
  return { pod, gateway: pod, request: 'now', state: 'Nothing', files: 0, baseCommit: commit, at: '2026-03-01T12:00:00Z', ...more }
}

void t.test('with capture enabled, a request concerns every gateway or the one that it names', async (t) => {
  t.equal(captureRequest({}), undefined)
  t.equal(captureRequest({ [captureAnnotations.at]: ' ' }), undefined)
  t.equal(captureRequest({ [captureAnnotations.at]: ` ${'i'.repeat(65)} ` })?.id, 'i'.repeat(64))
  t.equal(askedOf(spec, asked, press), 'now')
  t.equal(askedOf(spec, {}, press), undefined)
  t.equal(askedOf(undefined, asked, press), undefined)
  t.equal(askedOf({ ...spec, enabled: false }, asked, press), undefined)
  for (const [named, expected] of [
    ['press', 'now'],
    ['gw-0', 'now'],
    ['', 'now'],
    ['gw-1', undefined],
  ] as const)
    t.equal(askedOf(spec, { ...asked, [captureAnnotations.gateway]: named }, press), expected, `"${named}"`)
})

void t.test('a request to list local changes concerns every gateway or the one that it names', (t) => {
  const request = { [changesAnnotations.at]: 'now' }
  t.equal(changesAskedOf({}, press), undefined)
  t.equal(changesAskedOf(request, press), 'now')
  t.equal(changesAskedOf({ ...request, [changesAnnotations.gateway]: 'press' }, press), 'now')
  t.equal(changesAskedOf({ ...request, [changesAnnotations.gateway]: 'gw-1' }, press), undefined)
  t.end()
})

void t.test('without a request, changes are captured only if spec.capture.trigger is Drift, after the quiet period', async (t) => {
  for (const [capture, expected] of [
    [undefined, undefined],
    [{}, undefined],
    [{ trigger: 'Request' }, undefined],
    [{ trigger: 'Whenever' }, undefined],
    [{ trigger: 'Drift' }, 600_000],
    [{ trigger: 'Drift', quietPeriod: '90s' }, 90_000],
    [{ trigger: 'Drift', quietPeriod: '1m', enabled: false }, undefined],
    [{ trigger: 'Drift', quietPeriod: 'later' }, undefined],
  ] as const)
    t.equal(quietOf(capture), expected, JSON.stringify(capture))
})

void t.test('equal changes are captured once, and new changes only after the quiet period or on request', async (t) => {
  const [digest, other] = ['a'.repeat(64), 'b'.repeat(64)]
  const [offer, next] = [digest, other].map((each) => ({ request: driftRequest(each), digest: each }))
  if (offer === undefined || next === undefined) throw new Error('there are two offers')
  t.equal(offer.request, 'drift-aaaaaaaa')
  const taken = entry('gw-0', { request: offer.request, changesDigest: digest, state: 'Pushed' })
  const asked = entry('gw-0', { request: 'now', changesDigest: digest, state: 'Pushed' })
  t.strictSame([answers(taken, offer), answers(asked, offer), answers(taken, next)], [true, true, false])
  t.equal(answers(taken, { request: 'now', digest }), false, 'who asks has an answer of their own')
  const atMs = Date.parse(taken.at)
  const isToWait = (last: CaptureEntry, of: { request: string }, afterMs: number): boolean =>
    isTooSoon(last, of, { quietPeriod: '5m' }, atMs + afterMs)
  t.equal(isToWait(taken, next, 299_000), true)
  t.equal(isToWait(taken, next, 301_000), false)
  t.equal(isToWait(taken, { request: 'now' }, 0), false, 'a request')
  t.equal(isToWait(asked, next, 0), false, 'after a request')
  t.equal(isTooSoon(taken, next, {}, atMs + 599_000), true, 'ten minutes unless it is said')
})

void t.test('captures without a request are listed beside the answers to the last request', async (t) => {
  const drift = entry('gw-99', { request: 'drift-aaaaaaaa', state: 'Pushed', commit, branch: 'captured/gw-99' })
  const many = Array.from({ length: 30 }, (_, index) => entry(`gw-${index}`))
  const { status, events } = captureAfter(undefined, [...many, drift], { ...spec, trigger: 'Drift' }, asked, at)
  matchObject(t, status?.gateways?.[0], { pod: 'gw-99' })
  t.equal(status?.answered, 30)
  matchObject(t, events, [{ reason: 'Captured' }])
})

void t.test('the branch contains the gateway name; a name that git rejects yields no branch', async (t) => {
  t.equal(captureBranch(spec, 'press'), 'captured/press')
  t.equal(captureBranch({ branch: 'night-{{gateway.name}}/fix' }, 'press'), 'night-press/fix')
  t.equal(captureBranch(spec, '$&'), 'captured/$&')
  for (const name of ['a b', '../main', 'x..y', 'x.lock', '/x', '']) t.equal(captureBranch(spec, name), undefined, `"${name}"`)
})

void t.test('the status lists the newest request first, changes before their absence, for a limited number of gateways', async (t) => {
  const before = { gateways: [entry('gw-5', { request: 'before', state: 'Pushed', commit, branch: 'captured/gw-5' })] }
  const known = [entry('gw-1'), entry('gw-2', { state: 'Refused', files: 2, reason: 'PushRefused', message: 'no' })]
  const { status, events } = captureAfter(before, known, spec, asked, at)
  matchObject(t, status, { request: 'now', by: 'maria' })
  t.strictSame(
    status?.gateways?.map(({ pod }) => pod),
    ['gw-2', 'gw-1', 'gw-5'],
  )
  matchObject(t, events, [{ type: 'Warning', reason: 'CaptureRefused', note: '2 changes of gateway gw-2 not pushed: no (PushRefused)' }])
  const many = Array.from({ length: 50 }, (_, index) => entry(`gw-${index}`))
  t.equal(captureAfter(undefined, many, spec, asked, at).status?.gateways?.length, maxCaptured)
})

void t.test('a known result causes no new event, and without capture the status is empty', async (t) => {
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0' })
  const first = captureAfter(undefined, [pushed], spec, asked, at)
  matchObject(t, first.events, [
    { type: 'Normal', reason: 'Captured', note: `1 change of gateway gw-0 pushed as commit ${commit} of captured/gw-0` },
  ])
  t.strictSame(captureAfter(first.status, [{ ...pushed, at: '2026-03-01T13:00:00Z' }], spec, asked, at), {
    status: first.status,
    events: [],
  })
  t.strictSame(captureAfter(first.status, [pushed], undefined, asked, at), { status: undefined, events: [] })
  t.strictSame(captureAfter(undefined, [], spec, {}, at), { status: undefined, events: [] })
})

void t.test('a pull request is reported when it opens or fails, without repeating the push', async (t) => {
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0', pullRequest: { state: 'Waiting' } })
  const first = captureAfter(undefined, [pushed], spec, asked, at)
  matchObject(t, first.events, [{ reason: 'Captured', note: /pushed as commit/ }])
  const open = { ...pushed, pullRequest: { state: 'Open' as const, url: 'https://git.example/1' } }
  const second = captureAfter(first.status, [open], spec, asked, at)
  matchObject(t, second.events, [{ type: 'Normal', note: 'pull request of captured/gw-0, changes of gateway gw-0: https://git.example/1' }])
  t.strictSame(captureAfter(second.status, [open], spec, asked, at).events, [])
  const refused = { ...pushed, pullRequest: { state: 'Refused' as const, reason: 'PullRequestRefused', message: 'no' } }
  matchObject(t, captureAfter(first.status, [refused], spec, asked, at).events, [
    { type: 'Warning', note: /has no pull request: no \(PullRequestRefused\)/ },
  ])
})

void t.test('a status with reordered fields from the API server causes no new event', async (t) => {
  const skipped = [{ path: 'projects/line/z.txt', message: 'is new' }]
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0', skipped, skippedFiles: 1 })
  const sorted = Object.fromEntries(Object.entries(pushed).toSorted(([a], [b]) => (a < b ? -1 : 1))) as CaptureEntry
  t.not(JSON.stringify(sorted), JSON.stringify(pushed))
  t.strictSame(captureAfter({ gateways: [sorted] }, [pushed], spec, asked, at).events, [])
})

void t.test('gateways beyond the limit of the status do not repeat their events in each reconcile', async (t) => {
  const many = Array.from({ length: 25 }, (_, index) =>
    entry(`gw-${index}`, { state: 'Pushed', files: 1, commit, branch: `captured/gw-${index}` }),
  )
  const first = captureAfter(undefined, many, spec, asked, at)
  t.equal(first.events.length, maxCaptured)
  t.strictSame(captureAfter(first.status, many, spec, asked, at), { status: first.status, events: [] })
})

void t.test('a request keeps the time when it was first seen, and counts answers of unlisted gateways', async (t) => {
  const many = Array.from({ length: 25 }, (_, index) =>
    entry(`gw-${index}`, index === 0 ? { state: 'Failed', reason: 'GitUnreachable' } : {}),
  )
  const first = captureAfter(undefined, many, spec, asked, at)
  matchObject(t, first.status, { request: 'now', at, answered: 24 })
  const later = '2026-03-01T13:00:00Z'
  matchObject(
    t,
    captureAfter(first.status, [], spec, asked, later).status,
    { at, answered: 24 },
    'for a replica that has just begun to lead',
  )
  const next = { ...asked, [captureAnnotations.at]: 'next' }
  matchObject(t, captureAfter(first.status, many, spec, next, later).status, { request: 'next', at: later, answered: 0 })
})

void t.test('a capture status of another repository is ignored', async (t) => {
  const status = { gateways: [] }
  t.strictSame(ofRepository({ ...status, repo: 'one' }, 'one'), { ...status, repo: 'one' })
  t.equal(ofRepository({ ...status, repo: 'one' }, 'two'), undefined)
  t.strictSame(ofRepository(status, 'two'), status, 'a controller of an earlier release did not say')
  const before = { gateways: [entry('gw-0')], request: 'now', at, answered: 1, repo: 'one' }
  const moved = captureAfter(ofRepository(before, 'two'), [], spec, asked, '2026-03-08T12:00:00Z')
  matchObject(t, moved.status, { request: 'now', at, answered: 0, gateways: undefined }, 'but a request grows no younger')
})
