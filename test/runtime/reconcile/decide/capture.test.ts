/**
 * Tests which gateways a capture request concerns, which branch a gateway uses, and how the status reports captures.
 */
import t from 'tap'
import {
  answers,
  captureRequestId,
  captureAfter,
  forRepository,
  captureBranch,
  captureRequest,
  changesRequestId,
  changesRequest,
  concerns,
  driftRequest,
  isSameRequest,
  isTooSoon,
  quietPeriodMs,
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
  t.equal(captureRequestId(spec, asked, press), 'now')
  t.equal(captureRequestId(spec, {}, press), undefined)
  t.equal(captureRequestId(undefined, asked, press), undefined)
  t.equal(captureRequestId({ ...spec, enabled: false }, asked, press), undefined)
  for (const [named, expected] of [
    ['press', 'now'],
    ['gw-0', 'now'],
    ['', 'now'],
    ['gw-1', undefined],
  ] as const)
    t.equal(captureRequestId(spec, { ...asked, [captureAnnotations.gateway]: named }, press), expected, `"${named}"`)
})

void t.test('a request to list local changes concerns every gateway or the one that it names', (t) => {
  const request = { [changesAnnotations.at]: 'now' }
  t.equal(changesRequestId({}, press), undefined)
  t.equal(changesRequestId(request, press), 'now')
  t.equal(changesRequestId({ ...request, [changesAnnotations.gateway]: 'press' }, press), 'now')
  t.equal(changesRequestId({ ...request, [changesAnnotations.gateway]: 'gw-1' }, press), undefined)
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
    t.equal(quietPeriodMs(capture), expected, JSON.stringify(capture))
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
  t.equal(answers(asked, { request: 'now', digest: other }), true, 'a request is answered once, whatever changes')
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
  t.strictSame(forRepository({ ...status, repo: 'one' }, 'one'), { ...status, repo: 'one' })
  t.equal(forRepository({ ...status, repo: 'one' }, 'two'), undefined)
  t.strictSame(forRepository(status, 'two'), status, 'a controller of an earlier release did not say')
  const before = { gateways: [entry('gw-0')], request: 'now', at, answered: 1, repo: 'one' }
  const moved = captureAfter(forRepository(before, 'two'), [], spec, asked, '2026-03-08T12:00:00Z')
  matchObject(t, moved.status, { request: 'now', at, answered: 0, gateways: undefined }, 'but a request grows no younger')
})

void t.test('a request is read with who asks and for which gateway, within the limits of the status', (t) => {
  const { at: atKey, by, gateway } = captureAnnotations
  t.strictSame(captureRequest({ [atKey]: 'now' }), { id: 'now', by: undefined, gateway: undefined })
  t.strictSame(captureRequest({ [atKey]: ' now ', [by]: 'b'.repeat(129), [gateway]: 'press' }), {
    id: 'now',
    by: 'b'.repeat(128),
    gateway: 'press',
  })
  t.strictSame(captureRequest({ [atKey]: 'now', [gateway]: '' })?.gateway, undefined)
  t.equal(captureRequest({ [by]: 'maria', [gateway]: 'press' }), undefined)
  const { at: changesKey, gateway: changesGateway } = changesAnnotations
  t.strictSame(changesRequest({ [changesKey]: 'i'.repeat(65), [changesGateway]: 'press' }), { id: 'i'.repeat(64), gateway: 'press' })
  t.equal(changesRequest({ [atKey]: 'now' }), undefined, 'a capture is another request')
  t.equal(captureRequest({ [changesKey]: 'now' }), undefined)
  t.end()
})

void t.test('a request concerns a gateway by its name or its pod, and is the same one only for the same GatewaySync', (t) => {
  for (const [gateway, is] of [
    [undefined, true],
    ['press', true],
    ['gw-0', true],
    ['gw-1', false],
  ] as const)
    t.equal(concerns({ gateway }, press), is, gateway ?? 'every gateway')
  const request = { request: 'now', uid: 'u' }
  t.equal(isSameRequest(request, { ...request }), true)
  t.equal(isSameRequest(request, { ...request, uid: 'recreated' }), false)
  t.equal(isSameRequest(request, { ...request, request: 'later' }), false)
  t.end()
})

void t.test('an automatic capture waits for the whole quiet period, and ten minutes if that cannot be read', (t) => {
  const [last, next] = [entry('gw-0', { request: 'drift-aaaaaaaa' }), { request: 'drift-bbbbbbbb' }]
  const isToWait = (quietPeriod: string | undefined, afterMs: number) =>
    isTooSoon(last, next, quietPeriod === undefined ? {} : { quietPeriod }, Date.parse(last.at) + afterMs)
  for (const [quietPeriod, ms] of [
    ['5m', 300_000],
    ['later', 600_000],
    [undefined, 600_000],
  ] as const)
    t.strictSame([isToWait(quietPeriod, ms - 1), isToWait(quietPeriod, ms)], [true, false], quietPeriod ?? 'the default')
  t.end()
})

void t.test('no branch is a full ref', (t) => {
  t.equal(captureBranch({ branch: 'refs/heads/{{ gateway.name }}' }, 'press'), undefined)
  t.equal(captureBranch({ branch: 'captured/refs/{{ gateway.name }}' }, 'press'), 'captured/refs/press')
  t.end()
})

void t.test('of another repository only the request and its time are kept, if both are known', (t) => {
  const status = { repo: 'one', request: 'now', at, by: 'maria', answered: 1, gateways: [entry('gw-0')] }
  t.strictSame(forRepository(status, 'two'), { request: 'now', at })
  t.strictSame(forRepository(status, undefined), { request: 'now', at })
  t.equal(forRepository({ repo: 'one', at }, 'two'), undefined)
  t.equal(forRepository({ repo: 'one', request: 'now' }, 'two'), undefined)
  t.equal(forRepository(undefined, 'two'), undefined)
  t.end()
})

void t.test('gateways are listed by request, result and pod', (t) => {
  const before = (pod: string, state: CaptureEntry['state']) => entry(pod, { request: 'before', state })
  const known = [
    before('gw-9', 'Refused'),
    entry('gw-8'),
    entry('gw-7', { state: 'Pushed' }),
    entry('gw-6', { state: 'Pushed', request: 'drift-aaaaaaaa' }),
    entry('gw-5', { state: 'Refused' }),
    entry('gw-4', { state: 'Failed' }),
    before('gw-3', 'Pushed'),
    before('gw-2', 'Nothing'),
    entry('gw-1'),
  ]
  const { status } = captureAfter(undefined, known, spec, asked, at)
  t.strictSame(
    status?.gateways?.map(({ pod }) => pod),
    ['gw-4', 'gw-5', 'gw-6', 'gw-7', 'gw-1', 'gw-8', 'gw-9', 'gw-3', 'gw-2'],
  )
  t.end()
})

void t.test('the status has exactly what is known of a request and its results', (t) => {
  const { [captureAnnotations.by]: _by, ...anonymous } = asked
  t.strictSame(captureAfter(undefined, [], spec, asked, at), { status: { request: 'now', at, answered: 0, by: 'maria' }, events: [] })
  t.strictSame(captureAfter(undefined, [], spec, anonymous, at), { status: { request: 'now', at, answered: 0 }, events: [] })
  const drift = entry('gw-0', { request: 'drift-aaaaaaaa' })
  t.strictSame(captureAfter(undefined, [drift], spec, {}, at), { status: { gateways: [drift] }, events: [] }, 'without a request')
  const other = { request: 'before', at: '2026-02-01T00:00:00Z', answered: 7 }
  t.strictSame(captureAfter(other, [], spec, anonymous, at).status, { request: 'now', at, answered: 0 }, 'an earlier request')
  t.strictSame(captureAfter({ request: 'now' }, [entry('gw-0')], spec, anonymous, at).status, {
    request: 'now',
    at,
    answered: 1,
    gateways: [entry('gw-0')],
  })
  t.end()
})

void t.test('an event names the gateway, the changes and where they are, or why they are nowhere', (t) => {
  const notes = (...known: CaptureEntry[]) =>
    captureAfter(undefined, known, spec, asked, at).events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)
  const branch = 'captured/gw'
  t.strictSame(notes(entry('gw', { state: 'Pushed', files: 1, commit, branch })), [
    `Normal Captured: 1 change of gateway gw pushed as commit ${commit} of ${branch}`,
  ])
  t.strictSame(notes(entry('gw')), [], 'without changes')
  for (const state of ['Refused', 'Failed'] as const)
    t.strictSame(notes(entry('gw', { state, files: 2, reason: 'PushRefused', message: 'no' })), [
      'Warning CaptureRefused: 2 changes of gateway gw not pushed: no (PushRefused)',
    ])
  const { files: _files, ...bare } = entry('gw', { state: 'Failed' })
  t.strictSame(notes(bare), ['Warning CaptureRefused: 0 changes of gateway gw not pushed:  ()'])
  t.strictSame(notes({ ...bare, state: 'Pushed' }), ['Normal Captured: 0 changes of gateway gw pushed as commit  of '])

  const waiting = entry('gw', { state: 'Pushed', branch, pullRequest: { state: 'Waiting' } })
  const after = (last: CaptureEntry, next: CaptureEntry) =>
    captureAfter({ gateways: [last] }, [next], spec, asked, at).events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)
  const { pullRequest: _none, ...without } = waiting
  t.strictSame(after(waiting, without), [], 'none is requested any more')
  t.strictSame(after(without, waiting), [], 'it is being opened')
  const open: CaptureEntry = { ...waiting, pullRequest: { state: 'Open', url: 'https://git.example/1' } }
  t.strictSame(after(waiting, open), [`Normal Captured: pull request of ${branch}, changes of gateway gw: https://git.example/1`])
  const opened: CaptureEntry = { ...entry('gw', { state: 'Pushed' }), pullRequest: { state: 'Open' } }
  t.strictSame(after(entry('gw', { state: 'Pushed' }), opened), ['Normal Captured: pull request of , changes of gateway gw: '])
  const refused: CaptureEntry = { ...waiting, pullRequest: { state: 'Refused' } }
  t.strictSame(after(waiting, refused), [`Warning CaptureRefused: ${branch}, changes of gateway gw, has no pull request:  ()`])
  t.strictSame(
    after(waiting, { ...open, request: 'next' }),
    [`Normal Captured: 0 changes of gateway gw pushed as commit  of ${branch}`],
    'a new capture',
  )
  t.end()
})
