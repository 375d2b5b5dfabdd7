/**
 * What agents tell the leading replica of their gateways' changes: who is asked, what is taken, what the real gate stops, and where real git
 * puts the rest.
 */
import t from 'tap'
import * as v from 'valibot'
import type { CaptureOffer } from '../../../runtime/delivery/protocol.ts'
import { captureAnnotations, podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { captureStatus } from '../../../runtime/gatewaysync/schema/capture-spec.ts'
import type { CommitHash } from '../../../runtime/gatewaysync/values.ts'
import { config, resource } from '../../support/collection-tree.ts'
import { pod } from '../../support/fleet-facts.ts'
import { requires } from '../../support/requires.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { key, setUpCaptures, sync } from '../../support/captures.ts'

void t.test('nobody is asked for contents but a gateway whose changes somebody asked for, by the replica that leads', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, ask, offer, lead } = setUpCaptures(t)
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  const answer = (more: Partial<CaptureOffer> = {}, name = 'gw-0') => captures.offered(sync, name, { ...short, ...more })
  ask({ [captureAnnotations.at]: 'now', [captureAnnotations.gateway]: 'gw-0' })
  t.equal(answer(), undefined, 'a replica that does not lead')
  lead()
  t.same(answer(), { answer: 'send' })
  t.same(answer({}, 'gw-1'), { answer: 'done' }, 'another gateway')
  t.same(answer({ request: 'before' }), { answer: 'done' }, 'another request')
  t.throws(() => answer({ profile: 'other' }), { name: 'Fault', reason: 'PayloadMalformed' }, 'of a pod that follows another profile')
  ask({}, {})
  t.same(answer(), { answer: 'done' }, 'no request')
  ask({ [captureAnnotations.at]: 'now' }, { capture: undefined })
  t.same(answer(), { answer: 'done' }, 'no spec.capture')
  t.same(captures.known(key), [])
})

void t.test(
  'changes become a commit on the branch of their gateway, equal ones are one, and a second repair follows the first',
  async (t) => {
    if (!requires(t, 'git')) return
    const { states, changed, ask, offer, handOn, git, lead, commit } = setUpCaptures(t)
    lead()
    ask({ [captureAnnotations.at]: 'first' })
    const edit = { 'gw/projects/line/a.txt': 'two' }
    const one = await handOn('gw-0', offer('first', edit))
    t.match(one, { state: 'Pushed', branch: 'captured/gw-0', files: 1, on: commit })
    t.equal(git('rev-parse', 'captured/gw-0'), one?.commit)
    t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), commit)
    t.match(
      git('log', '-1', '--format=%(trailers)', 'captured/gw-0'),
      `Captured-Gateway: gw-0\nCaptured-Mode: dev\nCaptured-On: ${commit}\nCaptured-For: plant-a/plant/gw-0`,
    )
    const same = await handOn('gw-1', offer('first', edit))
    t.match(same, { state: 'Pushed', branch: 'captured/gw-0', commit: one?.commit })
    ask({ [captureAnnotations.at]: 'second' })
    const next = await handOn('gw-0', offer('second', { ...edit, 'gw/projects/line/b.txt': 'new' }))
    t.equal(git('log', '-1', '--format=%P', 'captured/gw-0'), `${commit} ${one?.commit ?? ''}`, 'nothing is forced')
    t.equal(git('rev-parse', 'captured/gw-0'), next?.commit)
    t.match(await handOn('gw-1', { ...offer('second', {}), files: 0 }), { state: 'Nothing' })
    t.same(states, ['Pushed', 'Pushed', 'Pushed', 'Nothing'])
    t.same(new Set(changed), new Set([key]))
  },
)

void t.test('an error and a plain credential stop a commit, with the finding, even where the policy is Off', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, offer, handOn, git, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'error' })
  const broken = await handOn('gw-0', offer('error', { 'gw/projects/line/project.json': '{"title": "Line",' }))
  t.match(broken, { state: 'Refused', reason: 'CollectionsInvalid', message: /project\.json/ })
  ask({ [captureAnnotations.at]: 'credential' })
  const database = config({ connectURL: 'jdbc:postgresql://db.dev.example.com/erp', password: 'to be changed' })
  const secret = await handOn('gw-0', offer('credential', resource('dev/ignition/database-connection/erp', database)))
  t.match(secret, { state: 'Refused', reason: 'CollectionsInvalid', message: /plain-credential/ })
  t.notMatch(JSON.stringify(secret), /to be changed/)
  t.equal(git('branch', '--list', 'captured/*'), '')
})

void t.test('changes that are not permitted are refused once, with the reason in the status', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, states, ask, offer, handOn, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const foreign = offer('now', { 'elsewhere/a.txt': 'two' })
  t.match(await handOn('gw-0', foreign), { state: 'Refused', reason: 'PayloadMalformed', message: /elsewhere/, files: 1 })
  t.same(captures.offered(sync, 'gw-0', foreign), { answer: 'done' })
  t.same(states, ['Refused'])
})

void t.test('an entry holds no text that is longer than the API server takes, however long the name of a gateway is', async (t) => {
  if (!requires(t, 'git')) return
  const { store, ask, offer, handOn, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const annotations = { [podAnnotations.gatewayName]: 'g'.repeat(5_000) }
  store.upsertPod({ ...pod('gw-0', 'plant'), serviceAccount: 'gateway', annotations })
  const told = await handOn('gw-0', offer('now', { 'gw/projects/line/a.txt': 'two' }))
  t.match(told, { state: 'Refused', reason: 'PushRefused', gateway: 'g'.repeat(253) })
  t.equal(v.safeParse(captureStatus, { gateways: [told] }).success, true)
})

void t.test('a gateway that comes long after a request answers it no more', async (t) => {
  if (!requires(t, 'git')) return
  const start = Temporal.Instant.from('2026-03-01T12:00:00Z')
  const { clock, set } = steppedClock(start)
  const { captures, ask, offer, lead } = setUpCaptures(t, clock)
  lead()
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  ask({ [captureAnnotations.at]: 'now' }, {}, { request: 'now', at: start.toString() })
  set(start.add({ minutes: 59 }))
  t.same(captures.offered(sync, 'gw-0', short), { answer: 'send' })
  set(start.add({ minutes: 61 }))
  t.same(captures.offered(sync, 'gw-0', short), { answer: 'done' })
  t.same(captures.known(key), [])
  ask({ [captureAnnotations.at]: 'again' }, {}, { request: 'now', at: start.toString() })
  t.same(captures.offered(sync, 'gw-0', { ...short, request: 'again' }), { answer: 'send' }, 'a new request')
})

void t.test('whoever asked sees that a gateway is at a commit, or follows a profile, that this GatewaySync never had', async (t) => {
  if (!requires(t, 'git')) return
  const { captures, store, ask, offer, lead } = setUpCaptures(t)
  lead()
  ask({ [captureAnnotations.at]: 'now' })
  const { changes: _none, ...short } = offer('now', { 'gw/projects/line/a.txt': 'two' })
  t.same(captures.offered(sync, 'gw-0', { ...short, commit: 'f'.repeat(40) as CommitHash }), { answer: 'done' })
  store.upsertPod({ ...pod('gw-1', 'plant'), serviceAccount: 'gateway', annotations: { [podAnnotations.profile]: 'gone' } })
  t.same(captures.offered(sync, 'gw-1', { ...short, profile: 'gone' }), { answer: 'done' })
  t.match(captures.known(key), [
    { pod: 'gw-0', state: 'Refused', reason: 'CommitNotPublished' },
    { pod: 'gw-1', state: 'Refused', reason: 'UnknownProfile', message: /"gone"/ },
  ])
})
