/**
 * The view model of a fleet: the level, text and advice for each state, with the meanings from the reason table.
 */
import t from 'tap'
import { parseReport } from '../../../runtime/reconcile/decide/gateways.ts'
import { wholeReport } from '../../../runtime/reconcile/decide/report-details.ts'
import { reasons } from '../../../runtime/platform/fault.ts'
import { fleetView } from '../../../runtime/fleet/fleet-view.ts'
import { fleetText, syncText } from '../../../runtime/fleet/status-text.ts'
import { conditionReasons } from '../../../runtime/api/schema/conditions.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { commit, condition, counts, earlier, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'

const plain = { width: 120, color: false, symbols: false }

void t.test('a synced fleet is one line per GatewaySync and a summary', async (t) => {
  const view = fleetView(
    fleetFacts({ syncs: [syncFacts('line-1')], pods: [pod('gw-0', 'line-1')], reports: [report('gw-0', 'line-1')] }),
    now,
  )
  matchObject(t, view, { allReady: true, level: 'ok', summary: '1 of 1 GatewaySync is ready; 1 of 1 gateways run the published commit.' })
  matchObject(t, view.syncs[0]?.gateways, [{ pod: 'gw-0', state: 'synced', commit, mode: 'prod', reason: undefined }])
  t.strictSame(fleetText(view, now, plain), [
    'NAMESPACE  NAME    READY  REF   COMMIT    GATEWAYS  PUBLISHED  WHY',
    'plant-a    line-1  yes    main  1a2b3c4d  1/1       3m         Synced',
    '',
    '1 of 1 GatewaySync is ready; 1 of 1 gateways run the published commit.',
  ])
})

void t.test('a gateway in any state counts as in step while it runs the published commit', async (t) => {
  const states = [
    { phase: 'Synced' },
    { phase: 'Drifted' },
    { phase: 'Paused' },
    { phase: 'Failed', reason: 'ScanFailed' },
    { phase: 'Paused', commit: earlier },
    { phase: 'Pending', commit: undefined },
  ] as const
  const names = states.map((_, index) => `gw-${index}`)
  const facts = fleetFacts({
    syncs: [syncFacts('line-1', { gateways: counts({ total: 6, synced: 1, drifted: 1, paused: 2, failed: 1, pending: 1 }) })],
    pods: names.map((name) => pod(name, 'line-1')),
    reports: states.map((state, index) => report(`gw-${index}`, 'line-1', state as object)),
  })
  matchObject(t, fleetView(facts, now), { summary: /; 4 of 6 gateways run the published commit/, syncs: [{ upToDate: 4 }] })
  const unread = fleetView({ ...facts, reports: [] }, now)
  t.equal(unread.syncs[0]?.upToDate, 2, 'where no report can be read, what the controller counted')
})

void t.test('a gateway runs its commit since the first of its last consecutive syncs with that commit', async (t) => {
  const at = (minute: number): string => `2026-03-01T11:0${minute}:00Z`
  const entry = (hash: string, minute: number, phase: 'Synced' | 'Failed' = 'Synced') => ({ commit: hash, phase, finishedAt: at(minute) })
  const since = (history: ReturnType<typeof entry>[]): string | undefined => {
    const reports = [report('gw-0', 'line-1', { finishedAt: at(9), history })]
    return fleetView(fleetFacts({ syncs: [syncFacts('line-1')], pods: [pod('gw-0', 'line-1')], reports }), now).syncs[0]?.gateways[0]?.since
  }
  t.equal(since([entry(commit, 5), entry(commit, 4, 'Failed'), entry(earlier, 3), entry(commit, 2)]), at(4))
  t.equal(since([entry(commit, 5)]), at(5))
  t.equal(since([entry(earlier, 5), entry(commit, 4)]), undefined, 'the sync that brought it has not ended')
  t.equal(since([]), undefined)
  const full = [9, 8, 7, 6, 5].map((minute) => entry(commit, minute, minute % 2 === 0 ? 'Failed' : 'Synced'))
  t.equal(since(full), undefined, 'the one that began it may be lost')
})

type Row = {
  name: string
  status: GatewaySyncStatus
  level: 'ok' | 'working' | 'warning' | 'error'
  /** A pattern that the text contains. */
  says: RegExp
  from?: 'standalone'
}
const notReady = (reason: string, message: string): GatewaySyncStatus => ({ conditions: [condition('Ready', 'False', reason, message)] })
const rows: Row[] = [
  {
    name: 'a commit that is refused names what stays',
    status: { ...notReady('CollectionsInvalid', '1 error'), published: { commit: earlier, ref: 'main', at: '2026-03-01T10:00:00Z' } },
    level: 'error',
    says: /cluster-sync lint.*until then, commit 99887766 stays published/,
  },
  {
    name: 'a fault that passes by itself says so',
    status: notReady('GitUnreachable', 'no route'),
    level: 'error',
    says: /retries automatically/,
  },
  {
    name: 'a fault that waits for a change says so',
    status: notReady('RefNotFound', 'no branch "mian"'),
    level: 'error',
    says: /The operator retries when the GatewaySync, its Secret or the commit changes/,
  },
  {
    name: 'a pause is no error and names the way out',
    status: notReady('Paused', 'spec.paused is true'),
    level: 'warning',
    says: /cluster-sync resume line-1 -n plant-a/,
  },
  {
    name: 'a pause of a standalone run names the file',
    status: notReady('Paused', 'spec.paused is true'),
    level: 'warning',
    says: /set spec\.paused to false in the file/,
    from: 'standalone',
  },
  {
    name: 'work under way is no error',
    status: notReady('GatewaysPending', '1 of 2 gateways'),
    level: 'working',
    says: /is not ready \(GatewaysPending\)/,
  },
  {
    name: 'a status of an earlier spec is not believed',
    status: { conditions: [{ ...condition('Ready', 'True', 'Synced', 'all'), observedGeneration: 0 }] },
    level: 'working',
    says: /the current spec is not yet reconciled/,
  },
  {
    name: 'no status at all leads to the check of the installation',
    status: { conditions: [] },
    level: 'working',
    says: /cluster-sync check/,
  },
  { name: 'local changes are a warning', status: { gateways: counts({ total: 1, drifted: 1 }) }, level: 'warning', says: /1\/1/ },
]

void t.test('each state of a GatewaySync has its level and text', async (t) => {
  for (const { name, status, level, says, from = 'cluster' } of rows) {
    const view = fleetView(fleetFacts({ from, syncs: [syncFacts('line-1', status)] }), now)
    t.equal(view.syncs[0]?.level, level, name)
    containsText(t, fleetText(view, now, plain).join(' ').replace(/\s+/g, ' '), says, name)
  }
})

void t.test('each reason has the meaning from the reason table', async (t) => {
  const words = { ...conditionReasons, ...Object.fromEntries(Object.entries(reasons).map(([reason, { help }]) => [reason, help])) }
  for (const [reason, meaning] of Object.entries(words)) {
    const view = fleetView(fleetFacts({ syncs: [syncFacts('line-1', notReady(reason, 'it happened'))] }), now)
    t.equal(view.syncs[0]?.meaning, meaning, reason)
  }
})

void t.test('each gateway shows why it is not in step, and what to do', async (t) => {
  const pods = [
    pod('gw-0', 'line-1'),
    pod('gw-1', 'line-1', { injected: false }),
    pod('gw-2', 'line-1'),
    pod('gw-3', 'line-1', { agentDown: 'the agent exited: OOMKilled 137' }),
    pod('gw-4', 'line-1'),
    pod('elsewhere', 'other'),
  ]
  const reports = [
    report('gw-0', 'line-1', { drift: { count: 2, paths: ['projects/a', 'projects/b'] }, phase: 'Drifted' }),
    report('gw-2', 'line-1', { phase: 'Blocked', reason: 'MassDeletion', message: '30 of 40 files' }),
    report('gw-4', 'line-1', { phase: 'Blocked', reason: 'LocalChanges', message: 'projects/a' }),
    // The report of a pod that has been replaced since.
    { ...report('gw-3', 'line-1'), podUid: 'another' },
  ]
  const facts = fleetFacts({ syncs: [syncFacts('line-1', notReady('GatewaysFailed', '1 of 4'))], pods, reports })
  const view = fleetView(facts, now)
  t.strictSame(
    view.syncs[0]?.gateways.map(({ pod, state, level }) => [pod, state, level]),
    [
      ['gw-0', 'drifted', 'warning'],
      ['gw-1', 'missingAgent', 'error'],
      ['gw-2', 'blocked', 'error'],
      ['gw-3', 'failed', 'error'],
      ['gw-4', 'blocked', 'error'],
    ],
  )
  const text = syncText(view, now, plain).join('\n')
  containsText(t, text, 'kubectl -n plant-a delete pod gw-1')
  containsText(t, text, `clustersync.io/confirm-deletions=${commit}`)
  containsText(t, text, `clustersync.io/confirm-overwrites=${commit}`)
  containsText(t, text, 'gw-3: the agent exited: OOMKilled 137')
})

void t.test('a blocked gateway of a standalone run shows the annotation for the file', async (t) => {
  const status = { ...notReady('GatewaysFailed', '1 of 1'), published: { commit, ref: 'main', at: '2026-03-01T10:00:00Z' } }
  const textOf = (reason: string): string => {
    const reports = [report('gw', 'line-1', { phase: 'Blocked', reason, message: 'projects/a' })]
    const view = fleetView({ ...fleetFacts({ syncs: [syncFacts('line-1', status)], reports }), pods: undefined, from: 'standalone' }, now)
    return syncText(view, now, plain).join(' ').replaceAll(/\s+/g, ' ')
  }
  containsText(t, textOf('MassDeletion'), `metadata.annotations in the file: clustersync.io/confirm-deletions: ${commit}`)
  containsText(t, textOf('LocalChanges'), `metadata.annotations in the file: clustersync.io/confirm-overwrites: ${commit}`)
})

void t.test('without pods, gateways are known by their reports', async (t) => {
  const view = fleetView(
    fleetFacts({ syncs: [syncFacts('line-1')], pods: undefined, reports: [report('gw-0', 'line-1')], notes: ['no pods'] }),
    now,
  )
  matchObject(t, view.syncs[0]?.gateways, [{ pod: 'gw-0', state: 'synced' }])
  containsText(t, fleetText(view, now, plain).at(-1), 'Note: no pods')
})

void t.test('a pod without a GatewaySync name follows the only one of its namespace, even if another is shown', async (t) => {
  const lonely = pod('gw-0', '', { annotations: { 'clustersync.io/inject': 'true' } })
  const both = fleetView(fleetFacts({ syncs: [syncFacts('line-1'), syncFacts('line-2')], pods: [lonely], only: 'line-1' }), now)
  t.strictSame(
    both.syncs.map(({ name, gateways }) => [name, gateways.length]),
    [['line-1', 0]],
  )
  const one = fleetView(fleetFacts({ syncs: [syncFacts('line-1')], pods: [lonely] }), now)
  t.equal(one.syncs[0]?.gateways.length, 1)
})

void t.test("another installation's GatewaySync counts when a pod names none, and is not shown", async (t) => {
  const lonely = pod('gw-0', '', { annotations: { 'clustersync.io/inject': 'true' } })
  const others = [{ namespace: 'plant-a', name: 'theirs' }]
  const { syncs } = fleetView(fleetFacts({ syncs: [syncFacts('line-1')], others, pods: [lonely, pod('gw-1', 'theirs')] }), now)
  t.strictSame(
    syncs.map(({ name, gateways }) => [name, gateways.length]),
    [['line-1', 0]],
  )
})

void t.test('a malformed spec or report does not break the view', async (t) => {
  const strange = fleetFacts({
    syncs: [syncFacts('line-1', {}, { spec: 'nonsense' })],
    pods: [pod('gw-0', 'line-1'), pod('gw-1', 'line-1')],
    reports: [
      { namespace: 'plant-a', pod: 'gw-0', gatewaySync: 'line-1', ...parseReport('uid-gw-0', 7, wholeReport) },
      { namespace: 'plant-a', pod: 'gw-1', gatewaySync: 'line-1', ...parseReport({}, { phase: 'Synced' }, wholeReport) },
    ],
  })
  const view = fleetView(strange, now)
  t.strictSame(
    view.syncs[0]?.gateways.map(({ state }) => state),
    ['pending', 'pending'],
  )
  t.doesNotThrow(() => syncText(view, now, plain))
})

void t.test('a terminal gets symbols and color within the same width', async (t) => {
  const syncs = ['a', 'b'].map((name) =>
    syncFacts(`${name}-line-with-a-name-that-goes-on-and-on`, {}, { namespace: 'a-namespace-with-a-long-name-too' }),
  )
  const view = fleetView(fleetFacts({ syncs }), now)
  const lines = fleetText(view, now, { width: 80, color: true, symbols: true })
  t.ok(lines[1]?.startsWith('\u001b[32m✓\u001b[0m a-namespace'))
  // oxlint-disable-next-line no-control-regex -- the colors are what is taken away
  for (const line of lines) t.ok(line.replace(/\u001b\[[0-9]+m/g, '').length <= 80, line)
})
