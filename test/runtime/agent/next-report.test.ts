import t from 'tap'
import * as v from 'valibot'
import { nextReport } from '../../../runtime/agent/next-report.ts'
import { reportLimits, syncReportStatus } from '../../../runtime/api/schema/report.ts'

void t.test('the API server accepts a report with a long message', async (t) => {
  const message = 'm'.repeat(4_096)
  for (const isLate of [false, true]) {
    const report = nextReport(undefined, { phase: 'Drifted', reason: 'Drifted', message }, { agentVersion: '1.0.0', isLate })
    t.ok(v.is(syncReportStatus, report))
    t.equal(report.message, message.slice(0, reportLimits.messageCharacters))
  }
})
