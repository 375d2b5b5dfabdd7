import t from 'tap'
import type { StoryEvent } from '../../../../runtime/cli/story/events.ts'
import { createNarrator, type Told } from '../../../../runtime/cli/story/narrate.ts'
import { Fault } from '../../../../runtime/fault.ts'
import type { SyncReportStatus } from '../../../../runtime/gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../../../runtime/gatewaysync/schema/status.ts'

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T00:00:00Z'

function condition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTime: at }
}

const published = { commit: first, ref: 'main', at }
const stays = { commit: first, ref: 'main' }
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
const words = { subject: 'Add a line', author: 'Jane Doe' }
const files = { added: 1, changed: 0, removed: 0, unchanged: 2 }

function start(gatewayUrl?: string) {
  const events: StoryEvent[] = []
  const narrator = createNarrator(
    (event) => events.push(event),
    [{ name: 'plant', gatewayUrl }],
    (commit) => (commit === first ? { words, durationMs: 400 } : {}),
  )
  /** What was told since the last call. */
  const told = (): StoryEvent[] => events.splice(0)
  return { narrator, told }
}

void t.test('nothing of an earlier run is told, and each thing once', async (t) => {
  const { narrator, told } = start()
  narrator.status(ready, false, undefined)
  t.same(told(), [], 'the git host has not answered')
  narrator.status(ready, true, new Fault('GitUnreachable', 'no route'))
  t.same(told(), [], 'what is published was published by an earlier run')
  narrator.status(ready, true, undefined)
  t.same(told(), [{ event: 'published', ...stays, words, durationMs: 400 }], 'no target has been looked at yet')
  narrator.report('plant', { ...synced, phase: 'Syncing' })
  t.same(told(), [], 'a cycle that begins is told by its progress')
  narrator.report('plant', synced, { durationMs: 200 })
  narrator.status(ready, true, undefined)
  t.same(told(), [
    { event: 'target', target: 'plant', phase: 'Synced', commit: first, files, read: [], durationMs: 200 },
    { event: 'ready', message: '1 of 1 gateways run the published commit' },
  ])
  narrator.report('plant', { ...synced, files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } }, { durationMs: 10 })
  narrator.status(ready, true, undefined)
  t.same(told(), [], 'a later look that found nothing to do')
  narrator.report('plant', synced, { durationMs: 300 })
  t.match(told(), [{ event: 'target', durationMs: 300 }], 'what was taken away was brought again')
})

void t.test('a fault of the git host and a refused commit say which commit stays', async (t) => {
  const { narrator, told } = start()
  const faulty = [condition('Ready', 'False', 'GitUnreachable', 'no route to host')]
  narrator.status({ published, conditions: faulty }, true, new Fault('GitUnreachable', 'no route to host'))
  t.same(told(), [{ event: 'notReady', reason: 'GitUnreachable', message: 'no route to host', stays }])
  const item = { rule: 'unknown-parent', severity: 'error' as const, path: 'core/config-mode.json', message: 'names the parent "x"' }
  const held = { ref: 'main', commit: second, held: 'CollectionsInvalid' }
  const conditions = [condition('Ready', 'False', 'CollectionsInvalid', '1 error')]
  const findings = { errors: 1, warnings: 2, items: [item] }
  narrator.status({ published, source: held, conditions, findings }, true, undefined)
  const refused = { event: 'commitRefused', commit: second, ref: 'main', reason: 'CollectionsInvalid', message: '1 error' }
  t.same(told().slice(1), [{ ...refused, stays, findings: [item], moreFindings: 2 }])
  narrator.status({ source: held, conditions, findings }, true, undefined)
  t.match(told(), [{ event: 'commitRefused', stays: null }])
  const unsigned = { ...held, held: 'NotVerified' }
  narrator.status(
    { source: unsigned, findings, conditions: [condition('Ready', 'False', 'NotVerified', 'is not signed')] },
    true,
    undefined,
  )
  t.match(told(), [{ event: 'commitRefused', message: 'is not signed', findings: [] }], 'findings of another commit are not its own')
})

void t.test('what keeps a gateway back is told by its own event alone, without what is not true yet', async (t) => {
  const { narrator, told } = start('http://localhost:8088')
  const waiting = [
    condition('Ready', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
    condition('GatewaysSynced', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
  ]
  narrator.status({ published, conditions: waiting }, true, undefined)
  t.match(told(), [{ event: 'published' }])
  const scan = { projects: { finishedAt: at }, finishedAt: at }
  narrator.report('plant', { ...synced, phase: 'Pending', reason: 'GatewayUnreachable', message: 'it does not answer', scan })
  t.match(told(), [{ event: 'target', phase: 'Pending', read: [], reason: 'GatewayUnreachable', message: 'it does not answer' }])
  narrator.status(ready, true, undefined)
  t.same(told(), [], 'Ready is of an earlier report')
  narrator.report('plant', { ...synced, scan })
  t.match(told(), [{ event: 'target', phase: 'Synced', read: ['projects'] }])
})

void t.test('findings, local changes and complaints are told when they appear, and again after they were gone', async (t) => {
  const { narrator, told } = start()
  const finding = { rule: 'lfs-pointer', path: 'projects/a', message: 'is a pointer' }
  const found = { ...synced, findings: [finding], scan: { problems: ['a bad resource'] } }
  const remarks = ['projects/a: is a pointer (lfs-pointer)', 'the gateway says: a bad resource'].map((message) => ({
    event: 'remark',
    target: 'plant',
    message,
  }))
  narrator.report('plant', found)
  t.same(told().slice(1), remarks)
  const quiet = { files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } }
  narrator.report('plant', { ...found, ...quiet })
  t.same(told(), [])
  narrator.report('plant', { ...synced, ...quiet })
  narrator.report('plant', { ...found, ...quiet })
  t.same(told(), remarks)
})

void t.test('a push that is refused in this run is told with its reason and with what stays', async (t) => {
  const { narrator, told } = start()
  const refused = (id: string) => ({ id, ref: 'typo', outcome: 'Refused' as const, reason: 'RefNotFound', message: 'no such branch', at })
  narrator.status({ ...ready, requests: [refused('old')] }, false, undefined)
  narrator.status({ ...ready, requests: [refused('old'), refused('new')] }, true, undefined)
  t.same(told()[0], { event: 'pushRefused', ref: 'typo', reason: 'RefNotFound', message: 'no such branch', stays })
  const superseded = { id: 'x', ref: 'v1', outcome: 'Superseded' as const, at }
  narrator.status({ ...ready, requests: [refused('old'), refused('new'), superseded] }, true, undefined)
  t.same(told(), [])
})

void t.test('what keeps the run itself from working is told once', async (t) => {
  const { narrator, told } = start()
  for (let round = 0; round < 2; round += 1) narrator.failed(new Fault('DiskFull', '/state/state.json: no space is left'))
  t.same(told(), [{ event: 'failed', reason: 'DiskFull', message: '/state/state.json: no space is left' }])
})

void t.test(
  'a gateway that waits for the first commit is not told of, and another version of the file repeats nothing but that it is ready',
  async (t) => {
    const told: Told = { last: new Map(), remarks: new Map() }
    const events: StoryEvent[] = []
    const narratorOf = () =>
      createNarrator(
        (event) => events.push(event),
        [{ name: 'plant', gatewayUrl: undefined }],
        () => ({}),
        told,
      )
    const found = { ...synced, findings: [{ rule: 'lfs-pointer', path: 'projects/a', message: 'is a pointer' }] }
    const before = narratorOf()
    before.report('plant', { phase: 'Pending', reason: 'CommitNotPublished', message: 'no commit is published yet', finishedAt: at })
    t.same(events, [])
    before.report('plant', found)
    before.status(ready, true, undefined)
    t.same(
      events.splice(0).map(({ event }) => event),
      ['target', 'remark', 'published', 'ready'],
    )
    const after = narratorOf()
    after.report('plant', { ...found, files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } })
    after.status(ready, true, undefined)
    t.same(
      events.map(({ event }) => event),
      ['ready'],
    )
  },
)
