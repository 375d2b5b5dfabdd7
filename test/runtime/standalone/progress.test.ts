import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'
import { createProgress } from '../../../runtime/standalone/progress.ts'

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T00:00:00Z'

function condition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTime: at }
}

const published = { commit: first, ref: 'main', at }
const ready: GatewaySyncStatus = {
  published,
  conditions: [condition('Ready', 'True', 'Synced', '1 of 1 gateways run the published commit')],
}
const synced: SyncReportStatus = {
  phase: 'Synced',
  commit: first,
  finishedAt: at,
  files: { added: 1, changed: 0, removed: 0, unchanged: 2, bytes: 3 },
}

function start(gatewayUrl?: string) {
  const lines: string[] = []
  const narrator = createProgress((line) => lines.push(line), [{ name: 'plant', gatewayUrl }])
  /** What was written since the last call. */
  const told = (): string[] => lines.splice(0)
  return { narrator, told }
}

void t.test('nothing of an earlier run is told, and each thing once', async (t) => {
  const { narrator, told } = start()
  narrator.status(ready, false, undefined)
  t.same(told(), [], 'the git host has not answered')
  narrator.status(ready, true, new Fault('GitUnreachable', 'no route'))
  t.same(told(), [], 'what is published was published by an earlier run')
  narrator.status(ready, true, undefined)
  t.same(told(), ['published aaaaaaaa of main'], 'no target has been looked at yet')
  narrator.report('plant', synced)
  narrator.status(ready, true, undefined)
  const expected = ['plant: Synced aaaaaaaa, 1 added, 0 changed, 0 removed, 2 unchanged', 'ready: 1 of 1 gateways run the published commit']
  t.same(told(), expected)
  narrator.report('plant', synced)
  narrator.status(ready, true, undefined)
  t.same(told(), [])
})

void t.test('a fault of the git host and a refused commit say which commit stays', async (t) => {
  const { narrator, told } = start()
  const faulty = [condition('Ready', 'False', 'GitUnreachable', 'no route to host')]
  narrator.status({ published, conditions: faulty }, true, new Fault('GitUnreachable', 'no route to host'))
  t.same(told(), ['not ready: no route to host (GitUnreachable); commit aaaaaaaa of main stays'])
  const held = { ref: 'main', commit: second, held: 'CollectionsInvalid' }
  const conditions = [condition('Ready', 'False', 'CollectionsInvalid', '1 error')]
  narrator.status({ published, source: held, conditions }, true, undefined)
  t.match(told(), [
    'published aaaaaaaa of main',
    'not ready: commit bbbbbbbb of main is refused: 1 error (CollectionsInvalid); commit aaaaaaaa of main stays',
  ])
  narrator.status({ source: held, conditions }, true, undefined)
  t.match(told(), [/nothing is published yet$/])
})

void t.test('what keeps a gateway back is told by its own line alone, without what is not true yet', async (t) => {
  const { narrator, told } = start('http://localhost:8088')
  const waiting = [
    condition('Ready', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
    condition('GatewaysSynced', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
  ]
  narrator.status({ published, conditions: waiting }, true, undefined)
  t.same(told(), ['published aaaaaaaa of main'])
  const scan = { projects: { finishedAt: at }, finishedAt: at }
  narrator.report('plant', { ...synced, phase: 'Pending', reason: 'GatewayUnreachable', message: 'it does not answer', scan })
  t.match(told(), [/^plant: Pending aaaaaaaa, .*unchanged, it does not answer \(GatewayUnreachable\)$/])
  narrator.status(ready, true, undefined)
  t.same(told(), [], 'Ready is of an earlier report')
  narrator.report('plant', { ...synced, scan })
  t.match(told(), [/unchanged, gateway read projects$/])
})

void t.test(
  'findings, local changes and complaints of the gateway are told when they appear, and again after they were gone',
  async (t) => {
    const { narrator, told } = start()
    const finding = { rule: 'lfs-pointer', path: 'projects/a', message: 'is a pointer' }
    const found = { ...synced, findings: [finding], scan: { problems: ['a bad resource'] } }
    narrator.report('plant', found)
    t.match(told(), [/Synced/, 'plant: projects/a: is a pointer (lfs-pointer)', 'plant: the gateway says: a bad resource'])
    narrator.report('plant', found)
    t.same(told(), [])
    narrator.report('plant', synced)
    narrator.report('plant', found)
    t.same(told(), ['plant: projects/a: is a pointer (lfs-pointer)', 'plant: the gateway says: a bad resource'])
    narrator.report('plant', {
      ...synced,
      phase: 'Pending',
      reason: 'ModeUnknown',
      message: 'x',
      drift: { count: 1, paths: ['projects/a'] },
    })
    t.match(told(), [/Pending/, 'plant: 1 of our files were changed or deleted locally: projects/a'])
  },
)

void t.test('a push that is refused in this run is told with its reason and with what stays', async (t) => {
  const { narrator, told } = start()
  const refused = (id: string) => ({ id, ref: 'typo', outcome: 'Refused' as const, reason: 'RefNotFound', message: 'no such branch', at })
  narrator.status({ ...ready, requests: [refused('old')] }, false, undefined)
  narrator.status({ ...ready, requests: [refused('old'), refused('new')] }, true, undefined)
  t.same(told()[0], 'the push for typo is refused: no such branch (RefNotFound); commit aaaaaaaa of main stays')
  narrator.status(
    { ...ready, requests: [refused('old'), refused('new'), { id: 'x', ref: 'v1', outcome: 'Superseded', at }] },
    true,
    undefined,
  )
  t.same(told(), [])
})

void t.test('what keeps the run itself from working is told once', async (t) => {
  const { narrator, told } = start()
  for (let round = 0; round < 2; round += 1) narrator.failed(new Fault('DiskFull', '/state/state.json: ENOSPC'))
  t.same(told(), ['/state/state.json: ENOSPC (DiskFull); trying again'])
})
