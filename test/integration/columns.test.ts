/**
 * `kubectl get` of both kinds on a real API server: the columns, and their width in a terminal.
 */
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { gatewaySyncColumns, syncReportColumns } from '../../runtime/reconcile/decide/columns.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType, syncReportType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { openWorld, until } from '../support/world.ts'

/** The width of a common terminal. */
const terminal = 120
const commit = '24a7d5c9c97cf8e04c02ea0114063d89b0766069'
const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString()
const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
const counts = { total: 12, synced: 9, pending: 0, failed: 1, blocked: 0, drifted: 2, dryRun: 0, paused: 0, missingAgent: 0 }
const why = '1 of 12 gateways: filling-and-packaging-1: DiskFull, the volume of the gateway holds no more than 20 MiB'

const syncStatus: GatewaySyncStatus = {
  source: { ref: 'release/2026-01', commit },
  published: { commit, ref: 'release/2026-01', at: weekAgo },
  gateways: counts,
  findings: { errors: 3, warnings: 14, items: [] },
  conditions: [{ type: 'Ready', status: 'False', reason: 'GatewaysFailed', message: why, lastTransitionTime: weekAgo }],
}
const reportStatus: SyncReportStatus = {
  phase: 'Drifted',
  commit,
  ref: 'release/2026-01',
  gateway: 'filling',
  profile: 'default',
  mode: { name: 'prod', from: 'Gateway' },
  drift: { count: 8, paths: ['projects/line-1/project.json'] },
  findings: [{ rule: 'gateway-identity', path: 'config', message: 'is the identity of one gateway' }],
  reason: 'Drifted',
  message: '8 of our files were changed locally: projects/line-1/com.inductiveautomation.perspective/views/Overview/view.json',
  finishedAt: weekAgo,
  agentVersion: '0.1.0',
}

void t.test('kubectl get shows the state of the plant in 120 columns, and -o wide the rest', { timeout: 600_000 }, async (t) => {
  const { kube, plane, signal, apply, namespace } = await openWorld(t)
  await apply([gatewaySyncCrd(), syncReportCrd()])
  const where = await namespace('columns')
  const [sync, report] = ['filling-and-packaging', 'filling-packaging-1']
  const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace: where, name: sync }, spec }
  await until(async () => kube.create(gatewaySyncType, object, signal).catch(() => undefined), 'the kinds are served')
  const reported = { gatewaySync: 'plant', podUid: 'uid' }
  await kube.create(
    syncReportType,
    { apiVersion, kind: 'SyncReport', metadata: { namespace: where, name: report }, spec: reported },
    signal,
  )
  const written = [
    { type: gatewaySyncType, name: sync, status: { ...syncStatus, columns: gatewaySyncColumns(syncStatus) } },
    { type: syncReportType, name: report, status: { ...reportStatus, columns: syncReportColumns(reportStatus) } },
  ]
  for (const { type, name, status } of written)
    await kube.mergePatch(type, { namespace: where, name }, { status }, { subresource: 'status' }, signal)

  /** Header and cells of the only line. */
  const get = async (kind: string, ...more: string[]) => {
    const poll = async () => {
      const { stdout, stderr, code } = await plane.kubectl(['get', kind, '--namespace', where, ...more])
      t.equal(code, 0, stderr)
      const [header = '', line = ''] = stdout.trimEnd().split('\n')
      const starts = [...header.matchAll(/\S+(?: \S+)*/g)].map(({ index, 0: name }) => ({ index, name }))
      const cells = starts.map(({ index, name }, at) => [name, line.slice(index, starts[at + 1]?.index).trim()])
      return { header, line, cells: Object.fromEntries(cells) as Record<string, string> }
    }
    // The API server serves the columns of a new CRD a moment after its kind.
    return until(async () => {
      const seen = await poll()
      return 'MESSAGE' in seen.cells ? seen : undefined
    }, `the columns of ${kind}`)
  }

  const short = await get('gatewaysyncs')
  matchObject(t, short.cells, {
    NAME: sync,
    READY: 'False',
    GATEWAYS: '11/12',
    COMMIT: '24a7d5c9',
    PUBLISHED: '7d',
    MESSAGE: '1 of 12 gateways: filling-and-packaging-1: D…',
    AGE: /^\d+s$/,
  })
  t.ok(Math.max(short.header.length, short.line.length) <= terminal, short.line)
  const wide = await get('gs', '--output', 'wide')
  matchObject(t, wide.cells, { REASON: 'GatewaysFailed', REF: 'release/2026-01', DRIFTED: '2', ERRORS: '3', WARNINGS: '14' })

  const one = await get('syncreports')
  matchObject(t, one.cells, {
    NAME: report,
    GATEWAYSYNC: 'plant',
    PHASE: 'Drifted',
    MODE: 'prod',
    COMMIT: '24a7d5c9',
    'LAST SYNC': '7d',
    MESSAGE: '8 of our files were changed locall…',
    AGE: /^\d+s$/,
  })
  t.ok(Math.max(one.header.length, one.line.length) <= terminal, one.line)
  const wideReport = await get('sr', '--output', 'wide')
  matchObject(t, wideReport.cells, {
    REF: 'release/2026-01',
    GATEWAY: 'filling',
    PROFILE: 'default',
    DRIFT: '8',
    FINDINGS: '1',
    AGENT: '0.1.0',
  })
})
