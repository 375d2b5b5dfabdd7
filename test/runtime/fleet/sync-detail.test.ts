/**
 * The details on the page of one GatewaySync: the base of each commit's comparison, local changes, and notices.
 */
import t from 'tap'
import { fleetView } from '../../../runtime/fleet/fleet-view.ts'
import type { FleetFacts } from '../../../runtime/fleet/facts.ts'
import { type SyncDetail, syncDetail } from '../../../runtime/fleet/sync-detail.ts'
import type { Temporal } from '../../../runtime/platform/temporal.ts'
import { matchObject } from '../../support/assertions.ts'
import { commit, condition, earlier, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'

function detailOf(facts: FleetFacts, at: Temporal.Instant = now): SyncDetail | undefined {
  const [sync] = fleetView(facts, now).syncs
  return sync === undefined ? undefined : syncDetail(facts, sync, at)
}

const withSpec = (sync: object, more: object = {}): FleetFacts =>
  fleetFacts({
    syncs: [
      syncFacts(
        'line-1',
        {},
        {
          spec: {
            git: { repo: 'https://git.example/plant.git', ref: 'main' },
            sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } }, ...sync },
            ...more,
          },
        },
      ),
    ],
    pods: [pod('gw-0', 'line-1'), pod('gw-1', 'line-1')],
    reports: [report('gw-0', 'line-1', { drift: { count: 5, paths: ['projects/a'] }, designers: ['pc-1'] }), report('gw-1', 'line-1')],
  })

void t.test('a commit is compared with the one published before it, even if it was refused', async (t) => {
  const entry = (hash: string, outcome: 'Published' | 'Refused', at: string) => ({ commit: hash, ref: 'main', at, outcome })
  const refused = 'ab'.repeat(20)
  const facts = fleetFacts({
    syncs: [
      syncFacts('line-1', {
        history: [
          entry(commit, 'Published', '2026-03-01T11:00:00Z'),
          entry(refused, 'Refused', '2026-03-01T10:00:00Z'),
          entry(commit, 'Refused', '2026-03-01T09:30:00Z'),
          entry(earlier, 'Published', '2026-03-01T09:00:00Z'),
        ],
      }),
    ],
  })
  t.strictSame(
    detailOf(facts)?.history.map((one) => [one.commit, one.before]),
    [
      [commit, earlier],
      [refused, earlier],
      [commit, earlier],
      [earlier, undefined],
    ],
  )
})

void t.test('gateways of a commit are counted as in the tiles: reports of deleted pods do not count', async (t) => {
  const history = [{ commit, ref: 'main', at: '2026-03-01T11:00:00Z', outcome: 'Published' as const }]
  const facts = fleetFacts({
    syncs: [syncFacts('line-1', { history })],
    pods: [pod('gw-0', 'line-1')],
    reports: [report('gw-0', 'line-1', { phase: 'Paused' }), report('gone-0', 'line-1')],
  })
  t.strictSame(
    detailOf(facts)?.history.map(({ gateways }) => gateways),
    [1],
  )
  t.equal(fleetView(facts, now).syncs[0]?.upToDate, 1)
})

void t.test('local changes are shown with the drift policy of the profile', async (t) => {
  for (const drift of ['Report', 'Restore', 'Hold'] as const) {
    matchObject(
      t,
      detailOf(withSpec({ defaults: { drift } }))?.localChanges,
      [{ pod: 'gw-0', count: 5, paths: ['projects/a'], policy: drift }],
      drift,
    )
  }
  matchObject(t, detailOf(withSpec({ profiles: {} }))?.localChanges, [{ pod: 'gw-0', policy: undefined }], 'of a spec that is not accepted')
  t.strictSame(detailOf(withSpec({}))?.designers, [{ pod: 'gw-0', gateway: 'gw-0', names: ['pc-1'] }])
})

void t.test('each notice appears once, for all gateways or with their number', async (t) => {
  t.strictSame(
    detailOf(withSpec({}))?.notices.filter(({ kind }) => kind !== 'otherVersion'),
    [],
  )
  matchObject(t, detailOf(withSpec({}, { paused: true }))?.notices, [{ kind: 'paused', count: undefined }])
  matchObject(t, detailOf(withSpec({ defaults: { dryRun: true } }))?.notices, [{ kind: 'dryRun', count: undefined }])
  const facts = withSpec({})
  const reports = [
    report('gw-0', 'line-1', { phase: 'Paused', agentVersion: '9.0.0' }),
    report('gw-1', 'line-1', { agentVersion: '9.0.0' }),
  ]
  t.strictSame(detailOf({ ...facts, reports })?.notices, [
    { kind: 'paused', count: 1 },
    { kind: 'otherVersion', count: 2 },
  ])
  matchObject(t, detailOf({ ...facts, syncs: [syncFacts('line-1', { outdatedAgents: 2 })] })?.notices, [
    { kind: 'outdatedAgents', count: 2 },
  ])
})

void t.test('the polling interval is shown', async (t) => {
  t.equal(detailOf(withSpec({}))?.polling, '60s')
  t.equal(detailOf(withSpec({}, { polling: { interval: '5m' } }))?.polling, '5m')
  t.equal(detailOf(withSpec({}, { polling: { enabled: false } }))?.polling, 'never')
})

void t.test('the next poll is computed from the last poll and the interval while that answer is current', async (t) => {
  const next = (spec: object, status: object = {}): string | undefined => {
    const facts = withSpec({}, spec)
    const syncs = facts.syncs.map((sync) => ({ ...sync, status: { ...sync.status, ...status } }))
    return detailOf({ ...facts, syncs })?.nextPoll?.toString()
  }
  t.equal(next({}), '2026-03-01T12:00:48Z')
  t.equal(next({ polling: { interval: '1h30m' } }), '2026-03-01T13:29:48Z')
  t.equal(next({ polling: { enabled: false } }), undefined)
  t.equal(next({}, { conditions: [condition('SourceReady', 'True', 'Fetched', 'answered')] }), '2026-03-01T12:00:48Z')
  t.equal(next({}, { conditions: [condition('SourceReady', 'False', 'HostUnreachable', 'away')] }), undefined, 'then it is tried again')
  t.equal(next({}, { observedGeneration: 0 }), undefined, 'another spec')
  t.equal(detailOf(withSpec({}), now.add({ seconds: 48 }))?.nextPoll, undefined, 'it is over')
  for (const checkedAt of [undefined, 'soon']) t.equal(next({}, { source: { ref: 'main', checkedAt } }), undefined)
})

void t.test('the last answer of the git host is shown with its time while it is the newest', async (t) => {
  const last = (seconds: number, status: object = {}): string | undefined => {
    const facts = withSpec({})
    const syncs = facts.syncs.map((sync) => ({ ...sync, status: { ...sync.status, ...status } }))
    return detailOf({ ...facts, syncs }, now.add({ seconds }))?.lastPoll?.toString()
  }
  t.equal(last(0), '2026-03-01T11:59:48Z')
  t.equal(last(960), undefined, 'it has been asked sixteen times since, and a status is not written for that')
  const failing = { conditions: [condition('SourceReady', 'False', 'GitUnreachable', 'away')] }
  t.equal(last(0, failing), undefined, 'answers that came until then were not written')
})
