import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { lateOutcome, outcomeOf } from '../../../runtime/standalone/outcome.ts'
import { matchObject } from '../../support/assertions.ts'

const ready: GatewaySyncStatus = {
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'Synced', message: 'all' }],
}
const synced: SyncReportStatus = { phase: 'Synced' }
const facts = { answered: true, fault: undefined, status: ready, reports: new Map([['gw', synced]]) }

void t.test('a run is complete once the source answered, Ready is true and each target reported in this run', async (t) => {
  t.strictSame(outcomeOf(facts), { kind: 'inPlace' })
  t.strictSame(outcomeOf({ ...facts, answered: false }), { kind: 'waiting' })
  t.strictSame(outcomeOf({ ...facts, status: {} }), { kind: 'waiting' })
  t.strictSame(outcomeOf({ ...facts, reports: new Map([['gw', undefined]]) }), { kind: 'waiting' }, 'a kept report proves nothing')
  t.strictSame(outcomeOf({ ...facts, status: {}, reports: new Map([['gw', { phase: 'Pending', reason: 'GatewayNotReady' }]]) }), {
    kind: 'waiting',
  })
})

void t.test('a run fails with the reason of the source, of validation or of the first failed target', async (t) => {
  t.strictSame(outcomeOf({ ...facts, fault: new Fault('RefNotFound', 'no branch x') }), {
    kind: 'failed',
    reason: 'RefNotFound',
    message: 'no branch x',
  })
  matchObject(t, outcomeOf({ ...facts, status: { source: { ref: 'main', held: 'CollectionsInvalid' } } }), {
    kind: 'failed',
    reason: 'CollectionsInvalid',
  })
  const failed: SyncReportStatus = { phase: 'Failed', reason: 'DiskFull', message: 'no space' }
  t.strictSame(outcomeOf({ ...facts, reports: new Map([['gw', failed]]) }), { kind: 'failed', reason: 'DiskFull', message: 'gw: no space' })
  const down: SyncReportStatus = { phase: 'Pending', reason: 'GatewayUnreachable', message: 'not read yet' }
  matchObject(t, outcomeOf({ ...facts, status: {}, reports: new Map([['gw', down]]) }), { kind: 'failed', reason: 'GatewayUnreachable' })
  matchObject(t, outcomeOf({ ...facts, reports: new Map([['gw', { phase: 'Paused' }]]) }), { kind: 'failed', reason: 'Paused' })
  const drifted: SyncReportStatus = { phase: 'Drifted', reason: 'Drifted', message: '2 files were deleted' }
  matchObject(t, outcomeOf({ ...facts, reports: new Map([['gw', drifted]]) }), { kind: 'failed', reason: 'Drifted' }, 'files are missing')
  const modeless: SyncReportStatus = { phase: 'Pending', reason: 'ModeUnknown', message: 'nobody can tell' }
  matchObject(t, outcomeOf({ ...facts, status: {}, reports: new Map([['gw', modeless]]) }), { kind: 'failed', reason: 'ModeUnknown' })
  const held = {
    published: { commit: 'a'.repeat(40), ref: 'main', at: '' },
    source: { ref: 'main', commit: 'b'.repeat(40), held: 'NotVerified' },
  }
  matchObject(t, outcomeOf({ ...facts, status: held }), { message: /^commit bbbbbbbb is refused: .*; commit aaaaaaaa stays published$/ })
})

void t.test('a failed target ends the run once every other target has ended', async (t) => {
  const failed: SyncReportStatus = { phase: 'Failed', reason: 'DiskFull', message: 'no space' }
  const blocked: SyncReportStatus = { phase: 'Blocked', reason: 'MassDeletion', message: 'too many' }
  const withOther = (other: SyncReportStatus | undefined) =>
    outcomeOf({
      ...facts,
      status: {},
      reports: new Map([
        ['a', failed],
        ['b', other],
      ]),
    })
  t.strictSame(withOther(undefined), { kind: 'waiting' })
  t.strictSame(withOther({ phase: 'Syncing' }), { kind: 'waiting' })
  t.strictSame(withOther(synced), { kind: 'failed', reason: 'DiskFull', message: 'a: no space' })
  t.strictSame(withOther(blocked), { kind: 'failed', reason: 'DiskFull', message: 'a: no space; b: too many' })
})

void t.test('a run that timed out names the time and the condition that it waited for', async (t) => {
  t.strictSame(lateOutcome(ready, 90_000), { kind: 'failed', reason: 'Timeout', message: 'not in place after 90 s: all' })
})
