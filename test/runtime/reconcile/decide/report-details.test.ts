/**
 * Tests the report details kept for display: bounded for any report, with the rest counted.
 */
import t from 'tap'
import { keptReport, remarksOf, reportDetails, wholeReport } from '../../../../runtime/reconcile/decide/report-details.ts'
import type { SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { matchObject } from '../../../support/assertions.ts'

const findings = Array.from({ length: 20 }, (_, index) => ({
  rule: 'a-rule',
  path: `${index}/${'x'.repeat(4000)}`,
  message: 'm'.repeat(1000),
}))
const drift = { count: 30, paths: Array.from({ length: 20 }, (_, index) => `${index}/${'y'.repeat(4000)}`) }
const largest: SyncReportStatus = { phase: 'Drifted', gateway: 'gw', profile: 'line', finishedAt: '2026-01-01T00:00:00Z', findings, drift }

void t.test('the details of the longest report stay small and count what is omitted', async (t) => {
  const told = reportDetails(largest, keptReport)
  matchObject(t, told, { gateway: 'gw', profile: 'line', finishedAt: '2026-01-01T00:00:00Z' })
  matchObject(t, told.drift, { count: 30, paths: [0, 1, 2].map((index) => new RegExp(`^${index}/y+\\.\\.\\.$`)) })
  t.equal(told.drift?.paths.length, keptReport.paths)
  t.equal(told.remarks.length, keptReport.remarks + 1)
  t.match(told.remarks[0], /^0\/x+\.\.\.$/)
  t.equal(told.remarks.at(-1), 'and 16 more in its SyncReport')
  t.ok(JSON.stringify(told).length < 3072, `${JSON.stringify(told).length} characters`)
})

void t.test('a single complete read returns all remarks', async (t) => {
  const { remarks } = reportDetails(largest, wholeReport)
  t.equal(remarks.length, 20)
  t.match(remarks[19], /m \(a-rule\)$/)
})

void t.test('changed lines are read once, and never kept', async (t) => {
  const changes = { request: 'r1', commit: 'a'.repeat(40), changed: 1, added: 0, removed: 0, ignored: 0, text: '-a\n+b\n' }
  const status = { ...largest, changes }
  t.strictSame(reportDetails(status, wholeReport).changes, changes)
  t.equal(reportDetails(status, keptReport).changes, undefined)
})

void t.test('local changes are counted first, unless the phase says so already or there are none', (t) => {
  const finding = { rule: 'a-rule', path: 'a.json', message: 'is empty' }
  const others = { findings: [finding, { ...finding, path: '' }], scan: { problems: ['Project not loaded'] } }
  const rest = ['a.json: is empty (a-rule)', 'is empty (a-rule)', 'the gateway reports: Project not loaded']
  const paths = ['a', 'b', 'c', 'd']
  for (const [local, phase, expected] of [
    [undefined, 'Synced', rest],
    [{ count: 0, paths: [] }, 'Synced', rest],
    [{ count: 4, paths }, 'Drifted', rest],
    [{ count: 1, paths: ['a'] }, 'Synced', ['1 managed file was changed or deleted locally: a', ...rest]],
    [{ count: 4, paths }, 'Synced', ['4 managed files were changed or deleted locally: a, b, c and 1 more', ...rest]],
  ] as const)
    t.strictSame(
      remarksOf({ phase, ...others, ...(local === undefined ? {} : { drift: { ...local, paths: [...local.paths] } }) }),
      expected,
    )
  t.end()
})

void t.test('a detail that the report lacks is absent, and one that fits is complete', async (t) => {
  t.strictSame(reportDetails({ phase: 'Synced' }, wholeReport), { remarks: [] })
  const bounds = { remarks: 2, paths: 2, characters: 10, changes: true }
  const [fits, cut] = ['x'.repeat(10), `${'x'.repeat(10)}...`]
  const status: SyncReportStatus = {
    phase: 'Drifted',
    gateway: 'gw',
    profile: 'line',
    finishedAt: '2026-01-01T00:00:00Z',
    history: [],
    drift: { count: 3, paths: [fits, `${fits}x`, fits] },
    designers: [`${fits}x`, fits, fits],
    findings: [
      { rule: 'r', path: '', message: 'm' },
      { rule: 'r', path: '', message: 'm'.repeat(7) },
    ],
  }
  const { gateway, profile, finishedAt, history } = status
  t.strictSame(reportDetails(status, bounds), {
    gateway,
    profile,
    finishedAt,
    history,
    drift: { count: 3, paths: [fits, cut] },
    designers: [cut, fits],
    remarks: ['m (r)', `${'m'.repeat(7)} (r`.slice(0, 10) + '...'],
  })
  t.strictSame(reportDetails(status, { ...bounds, remarks: 1 }).remarks, ['m (r)', 'and 1 more in its SyncReport'])
})
