/**
 * Which gateways a request concerns, which branch is a gateway's, and what a status tells of captures.
 */
import t from 'tap'
import {
  answers,
  askedOf,
  captureAfter,
  ofRepository,
  captureBranch,
  captureRequest,
  driftRequest,
  isTooSoon,
  quietOf,
} from '../../../runtime/gatewaysync/decide/capture.ts'
import { captureAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { type CaptureEntry, mostCaptured } from '../../../runtime/gatewaysync/schema/capture-spec.ts'
import type { CaptureSpec } from '../../../runtime/gatewaysync/schema/spec.ts'

const spec: CaptureSpec = {
  enabled: true,
  branch: 'captured/{{ gateway.name }}',
  auth: { token: { secretRef: { name: 'push', key: 'token' } } },
  on: 'Request',
  pullRequest: false,
}
const asked = { [captureAnnotations.at]: 'now', [captureAnnotations.by]: 'maria' }
const press = { pod: 'gw-0', gateway: 'press' }
const commit = 'a'.repeat(40)
const at = '2026-03-01T12:00:00Z'

function entry(pod: string, more: Partial<CaptureEntry> = {}): CaptureEntry {
  return { pod, gateway: pod, request: 'now', state: 'Nothing', files: 0, on: commit, at: '2026-03-01T12:00:00Z', ...more }
}

void t.test('a request concerns every gateway, or the one that it names, where capture is enabled', async (t) => {
  t.equal(captureRequest({}), undefined)
  t.equal(captureRequest({ [captureAnnotations.at]: ' ' }), undefined)
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

void t.test('without a request, changes are handed on only where the spec says so, in its time', async (t) => {
  for (const [capture, expected] of [
    [undefined, undefined],
    [{}, undefined],
    [{ on: 'Request' }, undefined],
    [{ on: 'Whenever' }, undefined],
    [{ on: 'Drift' }, 600_000],
    [{ on: 'Drift', quiet: '90s' }, 90_000],
    [{ on: 'Drift', quiet: '1m', enabled: false }, undefined],
    [{ on: 'Drift', quiet: 'later' }, undefined],
  ] as const)
    t.equal(quietOf(capture), expected, JSON.stringify(capture))
})

void t.test('equal changes are taken once, also where somebody has asked for them, and others no sooner than after quiet', async (t) => {
  const [digest, other] = ['a'.repeat(64), 'b'.repeat(64)]
  const [offer, next] = [digest, other].map((each) => ({ request: driftRequest(each), digest: each }))
  if (offer === undefined || next === undefined) throw new Error('there are two offers')
  t.equal(offer.request, 'drift-aaaaaaaa')
  const taken = entry('gw-0', { request: offer.request, changes: digest, state: 'Pushed' })
  const asked = entry('gw-0', { request: 'now', changes: digest, state: 'Pushed' })
  t.same([answers(taken, offer), answers(asked, offer), answers(taken, next)], [true, true, false])
  t.equal(answers(taken, { request: 'now', digest }), false, 'who asks has an answer of their own')
  const atMs = Date.parse(taken.at)
  const isToWait = (last: CaptureEntry, of: { request: string }, afterMs: number): boolean =>
    isTooSoon(last, of, { quiet: '5m' }, atMs + afterMs)
  t.equal(isToWait(taken, next, 299_000), true)
  t.equal(isToWait(taken, next, 301_000), false)
  t.equal(isToWait(taken, { request: 'now' }, 0), false, 'a request')
  t.equal(isToWait(asked, next, 0), false, 'after a request')
  t.equal(isTooSoon(taken, next, {}, atMs + 599_000), true, 'ten minutes unless it is said')
})

void t.test('what nobody asked for stands beside the answers to the last request', async (t) => {
  const drift = entry('gw-99', { request: 'drift-aaaaaaaa', state: 'Pushed', commit, branch: 'captured/gw-99' })
  const many = Array.from({ length: 30 }, (_, index) => entry(`gw-${index}`))
  const { status, events } = captureAfter(undefined, [...many, drift], { ...spec, on: 'Drift' }, asked, at)
  t.match(status?.gateways?.[0], { pod: 'gw-99' })
  t.equal(status?.answered, 30)
  t.match(events, [{ reason: 'Captured' }])
})

void t.test("a gateway's branch holds its name; a name that git does not take makes none", async (t) => {
  t.equal(captureBranch(spec, 'press'), 'captured/press')
  t.equal(captureBranch({ branch: 'night-{{gateway.name}}/fix' }, 'press'), 'night-press/fix')
  t.equal(captureBranch(spec, '$&'), 'captured/$&')
  for (const name of ['a b', '../main', 'x..y', 'x.lock', '/x', '']) t.equal(captureBranch(spec, name), undefined, `"${name}"`)
})

void t.test(
  'the status tells of the newest request first, of changes before their absence, and of a bounded number of gateways',
  async (t) => {
    const before = { gateways: [entry('gw-5', { request: 'before', state: 'Pushed', commit, branch: 'captured/gw-5' })] }
    const known = [entry('gw-1'), entry('gw-2', { state: 'Refused', files: 2, reason: 'PushRefused', message: 'no' })]
    const { status, events } = captureAfter(before, known, spec, asked, at)
    t.match(status, { request: 'now', by: 'maria' })
    t.same(
      status?.gateways?.map(({ pod }) => pod),
      ['gw-2', 'gw-1', 'gw-5'],
    )
    t.match(events, [{ type: 'Warning', reason: 'CaptureRefused', note: '2 changes of gateway gw-2 not pushed: no (PushRefused)' }])
    const many = Array.from({ length: 50 }, (_, index) => entry(`gw-${index}`))
    t.equal(captureAfter(undefined, many, spec, asked, at).status?.gateways?.length, mostCaptured)
  },
)

void t.test('what is known already is told once, and nothing stands of a GatewaySync that captures nothing', async (t) => {
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0' })
  const first = captureAfter(undefined, [pushed], spec, asked, at)
  t.match(first.events, [
    { type: 'Normal', reason: 'Captured', note: `1 change of gateway gw-0 pushed as commit ${commit} of captured/gw-0` },
  ])
  t.same(captureAfter(first.status, [{ ...pushed, at: '2026-03-01T13:00:00Z' }], spec, asked, at), { status: first.status, events: [] })
  t.same(captureAfter(first.status, [pushed], undefined, asked, at), { status: undefined, events: [] })
  t.same(captureAfter(undefined, [], spec, {}, at), { status: undefined, events: [] })
})

void t.test('a pull request is told when it is open, or could not be opened, and the push is not told again', async (t) => {
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0', pullRequest: { state: 'Waiting' } })
  const first = captureAfter(undefined, [pushed], spec, asked, at)
  t.match(first.events, [{ reason: 'Captured', note: /pushed as commit/ }])
  const open = { ...pushed, pullRequest: { state: 'Open' as const, url: 'https://git.example/1' } }
  const second = captureAfter(first.status, [open], spec, asked, at)
  t.match(second.events, [{ type: 'Normal', note: 'pull request of captured/gw-0, changes of gateway gw-0: https://git.example/1' }])
  t.same(captureAfter(second.status, [open], spec, asked, at).events, [])
  const refused = { ...pushed, pullRequest: { state: 'Refused' as const, reason: 'PullRequestRefused', message: 'no' } }
  t.match(captureAfter(first.status, [refused], spec, asked, at).events, [
    { type: 'Warning', note: /has no pull request: no \(PullRequestRefused\)/ },
  ])
})

void t.test('what the status has from the API server, in another order of fields, is not told again', async (t) => {
  const leftOut = [{ path: 'projects/line/z.txt', why: 'is new' }]
  const pushed = entry('gw-0', { state: 'Pushed', files: 1, commit, branch: 'captured/gw-0', leftOut, leftOutFiles: 1 })
  const sorted = Object.fromEntries(Object.entries(pushed).toSorted(([a], [b]) => (a < b ? -1 : 1))) as CaptureEntry
  t.not(JSON.stringify(sorted), JSON.stringify(pushed))
  t.same(captureAfter({ gateways: [sorted] }, [pushed], spec, asked, at).events, [])
})

void t.test('of more gateways than the status tells of, none is told of again with each pass', async (t) => {
  const many = Array.from({ length: 25 }, (_, index) =>
    entry(`gw-${index}`, { state: 'Pushed', files: 1, commit, branch: `captured/gw-${index}` }),
  )
  const first = captureAfter(undefined, many, spec, asked, at)
  t.equal(first.events.length, mostCaptured)
  t.same(captureAfter(first.status, many, spec, asked, at), { status: first.status, events: [] })
})

void t.test('a request has the time when it was first seen, and counts the answers of gateways that are not listed too', async (t) => {
  const many = Array.from({ length: 25 }, (_, index) =>
    entry(`gw-${index}`, index === 0 ? { state: 'Failed', reason: 'GitUnreachable' } : {}),
  )
  const first = captureAfter(undefined, many, spec, asked, at)
  t.match(first.status, { request: 'now', at, answered: 24 })
  const later = '2026-03-01T13:00:00Z'
  t.match(captureAfter(first.status, [], spec, asked, later).status, { at, answered: 24 }, 'for a replica that has just begun to lead')
  const next = { ...asked, [captureAnnotations.at]: 'next' }
  t.match(captureAfter(first.status, many, spec, next, later).status, { request: 'next', at: later, answered: 0 })
})

void t.test('what a status says of another repository counts for nothing', async (t) => {
  const status = { gateways: [] }
  t.same(ofRepository({ ...status, repo: 'one' }, 'one'), { ...status, repo: 'one' })
  t.equal(ofRepository({ ...status, repo: 'one' }, 'two'), undefined)
  t.same(ofRepository(status, 'two'), status, 'a controller of an earlier release did not say')
  const before = { gateways: [entry('gw-0')], request: 'now', at, answered: 1, repo: 'one' }
  const moved = captureAfter(ofRepository(before, 'two'), [], spec, asked, '2026-03-08T12:00:00Z')
  t.match(moved.status, { request: 'now', at, answered: 0, gateways: undefined }, 'but a request grows no younger')
})
