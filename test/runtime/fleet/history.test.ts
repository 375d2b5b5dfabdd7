/**
 * The history of a GatewaySync: published and refused commits in order, with the reason, and which gateways run them.
 */
import t from 'tap'
import { historyText, historyView } from '../../../runtime/fleet/history.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { commit, earlier, fleetFacts, now, report, syncFacts } from '../../support/fleet-facts.ts'

const sync = syncFacts('plant', {
  history: [
    {
      commit: '5'.repeat(40),
      ref: 'main',
      by: 'github',
      at: '2026-03-01T11:50:00Z',
      outcome: 'Refused',
      reason: 'CollectionsInvalid',
      message: '1 error',
      duration: '0.4s',
    },
    { commit, ref: 'main', by: 'spec', at: '2026-03-01T10:00:00Z', outcome: 'Published', duration: '0.3s' },
    { commit: earlier, ref: 'main', at: '2026-02-27T10:00:00Z', outcome: 'Published' },
  ],
  requests: [
    { id: 'a', ref: 'main', outcome: 'Handled', at: '2026-03-01T10:00:00Z' },
    { id: 'b', ref: 'v9', outcome: 'Refused', reason: 'RefNotFound', message: 'no v9', at: '2026-03-01T11:00:00Z' },
  ],
})

void t.test('commits and requests are in one list, newest first', async (t) => {
  const reports = [
    report('gw-0', 'plant', { history: [{ commit: earlier, phase: 'Synced', finishedAt: '2026-02-27T10:01:00Z' }] }),
    report('gw-1', 'other'),
  ]
  const view = historyView(fleetFacts({ syncs: [sync], reports }))
  matchObject(t, view, {
    entries: [
      { outcome: 'Refused', reason: 'CollectionsInvalid', meaning: /would not start/, isPublished: false },
      { ref: 'v9', commit: undefined, outcome: 'Refused', reason: 'RefNotFound' },
      { commit, isPublished: true, gateways: 1 },
      { commit: earlier, isPublished: false, gateways: 0 },
    ],
    gateways: [{ pod: 'gw-0', commit: earlier, phase: 'Synced' }],
  })
  t.equal(view?.entries.length, 4)
  if (view === undefined) return
  t.strictSame(historyText(view, now, { width: 120, color: false, symbols: false }), [
    'plant-a/plant',
    'WHEN  COMMIT    REF   BY      OUTCOME    TOOK  NOW',
    '10m   55555555  main  github  refused    0.4s',
    '        1 error (CollectionsInvalid)',
    '60m   -         v9    -       refused    -',
    '        no v9 (RefNotFound)',
    '2h    1a2b3c4d  main  spec    published  0.3s  published, 1 gateway',
    '2d    99887766  main  -       published  -',
    '',
    'POD   WHEN  COMMIT    PHASE   WHY',
    'gw-0  2d    99887766  Synced',
  ])
})

void t.test('a commit rolled out in stages shows the outcome of each stage', async (t) => {
  const stages = [
    { name: 'test-line', gateways: 1, failed: 0, startedAt: '2026-03-01T10:00:00Z', finishedAt: '2026-03-01T10:15:00Z' },
    {
      name: 'line-2',
      gateways: 4,
      failed: 0,
      silent: 1,
      startedAt: '2026-03-01T10:15:00Z',
      finishedAt: '2026-03-01T11:00:00Z',
      approvedBy: 'kim',
    },
    { name: 'plant', gateways: 30, failed: 2, startedAt: '2026-03-01T11:00:00Z' },
  ]
  const rolled = syncFacts('plant', { history: [{ commit, ref: 'main', at: '2026-03-01T10:00:00Z', outcome: 'Published', stages }] })
  const view = historyView(fleetFacts({ syncs: [rolled] }))
  t.strictSame(view?.entries[0]?.stages, stages)
  const text = view === undefined ? '' : historyText(view, now, { width: 200, color: false, symbols: false }).join('\n')
  containsText(
    t,
    text,
    'stages: test-line: 1 gateway in 15m; line-2: 4 gateways in 45m, 1 not reporting, approved by kim; plant: 30 gateways, 2 failed, not done',
  )
})

void t.test('a new GatewaySync has no history', async (t) => {
  t.equal(historyView(fleetFacts({})), undefined)
  const view = historyView(fleetFacts({ syncs: [syncFacts('plant')] }))
  t.strictSame(view?.entries, [])
})
