/**
 * Tests the columns for `kubectl get`: short, on one line, and with the same counts as elsewhere.
 */
import t from 'tap'
import * as v from 'valibot'
import { gatewaySyncColumns, isWorthWriting, syncReportColumns } from '../../../../runtime/reconcile/decide/columns.ts'
import { countGateways, type GatewayState } from '../../../../runtime/reconcile/decide/gateways.ts'
import { syncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { type GatewaySyncStatus, gatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'

const commit = '24a7d5c9c97cf8e04c02ea0114063d89b0766069'
const at = '2026-01-01T00:00:00Z'
const gateways = (...states: GatewayState[]) =>
  countGateways(states.map((state, index) => ({ pod: `gw-${index}`, state, reason: '', message: '', commit, mode: undefined })))
const ready = (message: string) => [{ type: 'Ready', status: 'False' as const, reason: 'GatewaysFailed', message, lastTransitionTime: at }]

void t.test('a gateway with local changes counts as running the published commit', async (t) => {
  t.strictSame(gatewaySyncColumns({ gateways: gateways('synced', 'drifted', 'failed') }), { gateways: '2/3' })
})

void t.test('a commit is shortened to eight digits, also within a message', async (t) => {
  const columns = gatewaySyncColumns({ published: { commit, ref: 'main', at }, conditions: ready(`commit ${commit} is desired`) })
  t.strictSame(columns, { commit: '24a7d5c9', message: 'commit 24a7d5c9 is desired' })
  matchObject(t, syncReportColumns({ phase: 'Synced', commit }), { commit: '24a7d5c9' })
})

void t.test('a message stays on one line within its width and ends with an ellipsis where it is cut', async (t) => {
  const long = `3 of 3 gateways:\n  ${'gw-0: CollectionsInvalid, '.repeat(20)}`
  const { message = '' } = gatewaySyncColumns({ conditions: ready(long) })
  t.equal(message, '3 of 3 gateways: gw-0: CollectionsInvalid, g…')
  const exact = 'x'.repeat(message.length)
  t.equal(gatewaySyncColumns({ conditions: ready(` ${exact}\n`) }).message, exact, 'one that just fits is complete')
  const report = syncReportColumns({ phase: 'Failed', message: long })
  t.equal(report.message, '3 of 3 gateways: gw-0: Collections…')
})

void t.test('a message of emoji is cut to the limit of the schema and stays well-formed', async (t) => {
  for (const message of ['🏭'.repeat(60), `a${'🏭'.repeat(60)}`, '🏭'.repeat(30)]) {
    const columns = gatewaySyncColumns({ conditions: ready(message) })
    t.ok(v.safeParse(gatewaySyncStatus, { columns }).success, message)
    t.ok(columns.message?.isWellFormed())
    t.match(columns.message, /🏭.*…$/u)
    const report = syncReportColumns({ phase: 'Failed', message })
    t.ok(v.safeParse(syncReportStatus, { phase: 'Failed', columns: report }).success, message)
  }
})

void t.test('without a message the reason is shown, and unknown values stay empty', async (t) => {
  t.equal(gatewaySyncColumns({ conditions: ready('') }).message, 'GatewaysFailed')
  t.strictSame(syncReportColumns({ phase: 'Paused', reason: 'Paused' }), { message: 'Paused' })
  t.strictSame(gatewaySyncColumns({}), {})
})

void t.test('a status is not written for its columns, nor more often than hourly for the time of a resolution', (t) => {
  const now = Temporal.Instant.from('2026-01-01T01:00:00Z')
  const checked = (checkedAt: string): GatewaySyncStatus => ({ source: { ref: 'main', checkedAt } })
  const [hourAgo, lately] = [checked('2026-01-01T00:00:00Z'), checked('2026-01-01T00:00:01Z')]
  const rows: [Record<string, unknown>, GatewaySyncStatus, boolean][] = [
    [{}, lately, false],
    [{ columns: { message: 'm' } }, hourAgo, false],
    [{ published: null }, lately, true],
    [{ source: null }, lately, true],
    [{ source: 'unknown' }, lately, true],
    [{ source: {} }, lately, false],
    [{ source: { checkedAt: 'now' } }, lately, false],
    [{ source: { checkedAt: 'now', fetchedAt: 'now' }, columns: {} }, lately, false],
    [{ source: { checkedAt: 'now', commit } }, lately, true],
    [{ source: { checkedAt: 'now' } }, hourAgo, true],
    [{ source: { fetchedAt: 'now' } }, {}, true],
    [{ source: { checkedAt: 'now' } }, { source: { ref: 'main' } }, true],
  ]
  for (const [patch, before, expected] of rows) t.equal(isWorthWriting(patch, before, now), expected, JSON.stringify(patch))
  t.end()
})

void t.test('the message is that of Ready, and of a report rather its message than its reason', async (t) => {
  const other = { type: 'SourceReady', status: 'True' as const, reason: 'Fetched', message: 'fetched', lastTransitionTime: at }
  t.strictSame(gatewaySyncColumns({ conditions: [other, ...ready('a  b\n\tc')] }), { message: 'a b c' })
  t.strictSame(gatewaySyncColumns({ conditions: [other] }), {})
  t.strictSame(syncReportColumns({ phase: 'Failed', message: 'no space', reason: 'DiskFull' }), { message: 'no space' })
  t.strictSame(syncReportColumns({ phase: 'Failed', message: 'x'.repeat(35) }), { message: 'x'.repeat(35) })
  t.strictSame(syncReportColumns({ phase: 'Failed', message: 'x'.repeat(36) }), { message: `${'x'.repeat(34)}…` })
})

void t.test('findings are counted only if there are some', async (t) => {
  const finding = { rule: 'a-rule', path: 'a.json', message: 'is empty' }
  t.strictSame(syncReportColumns({ phase: 'Synced', findings: [] }), {})
  t.strictSame(syncReportColumns({ phase: 'Synced', findings: [finding, finding] }), { findings: 2 })
})

void t.test('an artifact is shown by its digest', async (t) => {
  const ref = `v1@sha256:${'1'.repeat(64)}`
  t.strictSame(gatewaySyncColumns({ published: { commit, ref, at } }), { commit: '11111111' })
  t.strictSame(syncReportColumns({ phase: 'Synced', commit, ref }), { commit: '11111111' })
})
