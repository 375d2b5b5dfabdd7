/**
 * What is kept of a report for people: bounded, however much an agent writes, and the rest is counted.
 */
import t from 'tap'
import { keptReport, toldOf, wholeReport } from '../../../runtime/gatewaysync/decide/told.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'

const findings = Array.from({ length: 20 }, (_, index) => ({
  rule: 'a-rule',
  path: `${index}/${'x'.repeat(4000)}`,
  message: 'm'.repeat(1000),
}))
const drift = { count: 30, paths: Array.from({ length: 20 }, (_, index) => `${index}/${'y'.repeat(4000)}`) }
const largest: SyncReportStatus = { phase: 'Drifted', gateway: 'gw', profile: 'line', finishedAt: '2026-01-01T00:00:00Z', findings, drift }

void t.test('the longest report takes little, and says that there is more', async (t) => {
  const told = toldOf(largest, keptReport)
  t.match(told, { gateway: 'gw', profile: 'line', finishedAt: '2026-01-01T00:00:00Z' })
  t.match(told.drift, { count: 30, paths: [/^0\/y+\.\.\.$/] })
  t.equal(told.drift?.paths.length, keptReport.paths)
  t.equal(told.remarks.length, keptReport.remarks + 1)
  t.match(told.remarks[0], /^0\/x+\.\.\.$/)
  t.equal(told.remarks.at(-1), 'and 16 more in its SyncReport')
  t.ok(JSON.stringify(told).length < 3072, `${JSON.stringify(told).length} characters`)
})

void t.test('whoever reads once gets all of it', async (t) => {
  const { remarks } = toldOf(largest, wholeReport)
  t.equal(remarks.length, 20)
  t.match(remarks[19], /m \(a-rule\)$/)
})
