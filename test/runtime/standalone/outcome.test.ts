import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'
import { outcomeOf } from '../../../runtime/standalone/outcome.ts'

const ready: GatewaySyncStatus = {
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Synced', message: 'all' }],
}
const synced: SyncReportStatus = { phase: 'Synced' }
const facts = { answered: true, fault: undefined, status: ready, reports: new Map([['gw', synced]]) }

void t.test('a run is over when the source answered, Ready is true and each target reported in this run', async (t) => {
  t.same(outcomeOf(facts), { kind: 'inPlace' })
  t.same(outcomeOf({ ...facts, answered: false }), { kind: 'waiting' })
  t.same(outcomeOf({ ...facts, status: {} }), { kind: 'waiting' })
  t.same(outcomeOf({ ...facts, reports: new Map([['gw', undefined]]) }), { kind: 'waiting' }, 'a kept report proves nothing')
  t.same(outcomeOf({ ...facts, status: {}, reports: new Map([['gw', { phase: 'Pending', reason: 'GatewayNotReady' }]]) }), {
    kind: 'waiting',
  })
})

void t.test('a run fails with the reason of the git host, of the checks or of the first target that failed', async (t) => {
  t.same(outcomeOf({ ...facts, fault: new Fault('RefNotFound', 'no branch x') }), {
    kind: 'failed',
    reason: 'RefNotFound',
    message: 'no branch x',
  })
  t.match(outcomeOf({ ...facts, status: { source: { ref: 'main', held: 'CollectionsInvalid' } } }), {
    kind: 'failed',
    reason: 'CollectionsInvalid',
  })
  const failed: SyncReportStatus = { phase: 'Failed', reason: 'DiskFull', message: 'no space' }
  t.same(outcomeOf({ ...facts, reports: new Map([['gw', failed]]) }), { kind: 'failed', reason: 'DiskFull', message: 'gw: no space' })
  const down: SyncReportStatus = { phase: 'Pending', reason: 'GatewayUnreachable', message: 'not read yet' }
  t.match(outcomeOf({ ...facts, status: {}, reports: new Map([['gw', down]]) }), { kind: 'failed', reason: 'GatewayUnreachable' })
  t.match(outcomeOf({ ...facts, reports: new Map([['gw', { phase: 'Paused' }]]) }), { kind: 'failed', reason: 'Paused' })
  const drifted: SyncReportStatus = { phase: 'Drifted', reason: 'Drifted', message: '2 files were deleted' }
  t.match(outcomeOf({ ...facts, reports: new Map([['gw', drifted]]) }), { kind: 'failed', reason: 'Drifted' }, 'files are missing')
  const modeless: SyncReportStatus = { phase: 'Pending', reason: 'ModeUnknown', message: 'nobody can tell' }
  t.match(outcomeOf({ ...facts, status: {}, reports: new Map([['gw', modeless]]) }), { kind: 'failed', reason: 'ModeUnknown' })
  const held = {
    published: { commit: 'a'.repeat(40), ref: 'main', at: '' },
    source: { ref: 'main', commit: 'b'.repeat(40), held: 'NotVerified' },
  }
  t.match(outcomeOf({ ...facts, status: held }), { message: /^commit bbbbbbbb is refused: .*; commit aaaaaaaa stays$/ })
})
