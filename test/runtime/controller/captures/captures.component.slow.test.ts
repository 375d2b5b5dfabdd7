/**
 * Captures of gateway changes by the leading replica: which gateways may upload, what validation refuses, and what is pushed to a real git
 * repository.
 */
import t from 'tap'
import * as v from 'valibot'
import type { CaptureOffer } from '../../../../runtime/content/protocol/protocol.ts'
import { captureAnnotations, podAnnotations } from '../../../../runtime/api/names.ts'
import { captureStatus } from '../../../../runtime/api/schema/capture-spec.ts'
import type { CommitHash } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText, matchObject, throwsError } from '../../../support/assertions.ts'
import { config, resource } from '../../../support/collection-tree.ts'
import { pod } from '../../../support/fleet-facts.ts'
import { requires } from '../../../support/requires.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'
import { key, setUpCaptures, sync } from '../../../support/captures.ts'

void t.test('only the leader requests contents, and only of a gateway with a capture request', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, lead } = setUpCaptures(t)
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const answer = (more: Partial<CaptureOffer> = {}, name = 'gw-0') => captures.offered(sync, name, { ...short, ...more })
  ask({ [captureAnnotations.at]: 'now', [captureAnnotations.gateway]: 'gw-0' })
  t.equal(answer(), undefined, 'a replica that does not lead')
  lead()
  t.strictSame(answer(), { answer: 'send' })
  t.strictSame(answer({}, 'gw-1'), { answer: 'done' }, 'another gateway')
  t.strictSame(answer({ request: 'before' }), { answer: 'done' }, 'another request')
  throwsError(t, () => answer({ profile: 'other' }), { name: 'Fault', reason: 'PayloadMalformed' }, 'of a pod that follows another profile')
  ask({}, {})
  t.strictSame(answer(), { answer: 'done' }, 'no request')
  ask({ [captureAnnotations.at]: 'now' }, { capture: undefined })
  t.strictSame(answer(), { answer: 'done' }, 'no spec.capture')
  t.strictSame(captures.known(key), [])
})

void t.test("changes become a commit on their gateway's branch, equal ones share it, and later ones follow it", async (t) => {
  if (!requires(t, 'git')) return
  const { states, changed, ask, offer, handOn, git, lead, commit } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'first' })
  const edit = { 'gw/projects/line/a.txt': 'two' }
  const one = await handOn('gw-0', offer('first', edit))
  matchObject(t, one, { state: 'Pushed', branch: 'captured/gw-0', files: 1, baseCommit: commit })
  t.equal(git('rev-parse', 'captured/gw-0'), one?.commit)
  t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), commit)
  containsText(
    t,
    git('log', '-1', '--format=%(trailers)', 'captured/gw-0'),
    `Captured-Gateway: gw-0\nCaptured-Mode: dev\nCaptured-On: ${commit}\nCaptured-For: plant-a/plant/gw-0`,
  )
  const same = await handOn('gw-1', offer('first', edit))
  matchObject(t, same, { state: 'Pushed', branch: 'captured/gw-0', commit: one?.commit })
  ask({ [captureAnnotations.at]: 'second' })
  const next = await handOn('gw-0', offer('second', { ...edit, 'gw/projects/line/b.txt': 'new' }))
  t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), `${commit} ${one?.commit ?? ''}`, 'nothing is forced')
  t.equal(git('rev-parse', 'captured/gw-0'), next?.commit)
  matchObject(t, await handOn('gw-1', { ...offer('second', {}), files: 0 }), { state: 'Nothing' })
  t.strictSame(states, ['Pushed', 'Pushed', 'Pushed', 'Nothing'])
  t.strictSame(new Set(changed), new Set([key]))
})

void t.test('an error or a credential in plain text refuses the capture with the finding, even if the policy is Off', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, offer, handOn, git, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'error' })
  const broken = await handOn('gw-0', offer('error', { 'gw/projects/line/project.json': '{"title": "Line",' }))
  matchObject(t, broken, { state: 'Refused', reason: 'CollectionsInvalid', message: /project\.json/ })
  ask({ [captureAnnotations.at]: 'credential' })
  const database = config({ connectURL: 'jdbc:postgresql://db.dev.example.com/erp', password: 'to be changed' })
  const secret = await handOn('gw-0', offer('credential', resource('dev/ignition/database-connection/erp', database)))
  matchObject(t, secret, { state: 'Refused', reason: 'CollectionsInvalid', message: /plain-credential/ })
  t.notMatch(JSON.stringify(secret), /to be changed/)
  t.equal(git('branch', '--list', 'captured/*'), '')
})

void t.test('forbidden changes are refused once, with the reason in the status', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, states, ask, offer, handOn, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const foreign = offer('now', { 'elsewhere/a.txt': 'two' })
  matchObject(t, await handOn('gw-0', foreign), { state: 'Refused', reason: 'PayloadMalformed', message: /elsewhere/, files: 1 })
  t.strictSame(captures.offered(sync, 'gw-0', foreign), { answer: 'done' })
  t.strictSame(states, ['Refused'])
})

void t.test("the texts of an entry fit the API server's limits, even for a long gateway name", async (t) => {
  if (!requires(t, 'git')) return
  const { store, ask, offer, handOn, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const annotations = { [podAnnotations.gatewayName]: 'g'.repeat(5_000) }
  store.upsertPod({ ...pod('gw-0', 'plant'), serviceAccount: 'gateway', annotations })
  const told = await handOn('gw-0', offer('now', { 'gw/projects/line/a.txt': 'two' }))
  matchObject(t, told, { state: 'Refused', reason: 'PushRefused', gateway: 'g'.repeat(253) })
  t.equal(v.safeParse(captureStatus, { gateways: [told] }).success, true)
})

void t.test('a capture request expires for gateways after one hour', async (t) => {
  if (!requires(t, 'git')) return
  const start = Temporal.Instant.from('2026-03-01T12:00:00Z')
  const { clock, set } = steppedClock(start)
  const { captures, ask, offer, lead } = setUpCaptures(t, clock)
  lead()
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  ask({ [captureAnnotations.at]: 'now' }, {}, { request: 'now', at: start.toString() })
  set(start.add({ minutes: 59 }))
  t.strictSame(captures.offered(sync, 'gw-0', short), { answer: 'send' })
  set(start.add({ minutes: 61 }))
  t.strictSame(captures.offered(sync, 'gw-0', short), { answer: 'done' })
  t.strictSame(captures.known(key), [])
  ask({ [captureAnnotations.at]: 'again' }, {}, { request: 'now', at: start.toString() })
  t.strictSame(captures.offered(sync, 'gw-0', { ...short, request: 'again' }), { answer: 'send' }, 'a new request')
})

void t.test('a gateway with an unknown commit or profile is reported as refused in the captures', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, store, ask, offer, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  t.strictSame(captures.offered(sync, 'gw-0', { ...short, commit: 'f'.repeat(40) as CommitHash }), { answer: 'done' })
  store.upsertPod({ ...pod('gw-1', 'plant'), serviceAccount: 'gateway', annotations: { [podAnnotations.profile]: 'gone' } })
  t.strictSame(captures.offered(sync, 'gw-1', { ...short, profile: 'gone' }), { answer: 'done' })
  matchObject(t, captures.known(key), [
    { pod: 'gw-0', state: 'Refused', reason: 'CommitNotPublished' },
    { pod: 'gw-1', state: 'Refused', reason: 'UnknownProfile', message: /"gone"/ },
  ])
})
