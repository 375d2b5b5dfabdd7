import t from 'tap'
import { Narrator, type Emitted, type RunEvent } from '../../../../runtime/cli/output/narrate.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { SyncReportStatus } from '../../../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { matchObject } from '../../../support/assertions.ts'

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
const summary = { subject: 'Add a line', author: 'Jane Doe' }
const files = { added: 1, changed: 0, removed: 0, unchanged: 2 }

function start() {
  const events: RunEvent[] = []
  const narrator = new Narrator(
    (event) => events.push(event),
    [{ name: 'plant' }],
    (commit) => (commit === first ? { summary, durationMs: 400 } : {}),
  )
  /** The events since the last call. */
  const emitted = (): RunEvent[] => events.splice(0)
  return { narrator, emitted }
}

void t.test('events of an earlier run are not repeated, and each event is emitted once', async (t) => {
  const { narrator, emitted } = start()
  narrator.status(ready, false, undefined)
  t.strictSame(emitted(), [], 'the git host has not answered')
  narrator.status(ready, true, new Fault('GitUnreachable', 'no route'))
  t.strictSame(emitted(), [], 'what is published was published by an earlier run')
  narrator.status(ready, true, undefined)
  t.strictSame(emitted(), [{ event: 'published', ...stays, summary, durationMs: 400 }], 'no target has been looked at yet')
  narrator.report('plant', { ...synced, phase: 'Syncing' })
  t.strictSame(emitted(), [], 'a cycle that begins is told by its progress')
  narrator.report('plant', synced, { durationMs: 200 })
  narrator.status(ready, true, undefined)
  t.strictSame(emitted(), [
    { event: 'target', target: 'plant', phase: 'Synced', commit: first, files, read: [], durationMs: 200 },
    { event: 'ready', message: '1 of 1 gateways run the published commit' },
  ])
  narrator.report('plant', { ...synced, files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } }, { durationMs: 10 })
  narrator.status(ready, true, undefined)
  t.strictSame(emitted(), [], 'a later look that found nothing to do')
  narrator.report('plant', synced, { durationMs: 300 })
  matchObject(t, emitted(), [{ event: 'target', durationMs: 300 }], 'what was taken away was brought again')
})

void t.test('a git host fault and a refused commit name the commit that stays published', async (t) => {
  const { narrator, emitted } = start()
  const faulty = [condition('Ready', 'False', 'GitUnreachable', 'no route to host')]
  narrator.status({ published, conditions: faulty }, true, new Fault('GitUnreachable', 'no route to host'))
  t.strictSame(emitted(), [{ event: 'notReady', reason: 'GitUnreachable', message: 'no route to host', stays }])
  const item = { rule: 'unknown-parent', severity: 'error' as const, path: 'core/config-mode.json', message: 'names the parent "x"' }
  const held = { ref: 'main', commit: second, held: 'CollectionsInvalid' }
  const conditions = [condition('Ready', 'False', 'CollectionsInvalid', '1 error')]
  const findings = { errors: 1, warnings: 2, items: [item] }
  narrator.status({ published, source: held, conditions, findings }, true, undefined)
  const refused = { event: 'commitRefused', commit: second, ref: 'main', reason: 'CollectionsInvalid', message: '1 error' }
  t.strictSame(emitted().slice(1), [{ ...refused, stays, findings: [item], moreFindings: 2 }])
  narrator.status({ source: held, conditions, findings }, true, undefined)
  matchObject(t, emitted(), [{ event: 'commitRefused', stays: null }])
  const unsigned = { ...held, held: 'NotVerified' }
  narrator.status(
    { source: unsigned, findings, conditions: [condition('Ready', 'False', 'NotVerified', 'is not signed')] },
    true,
    undefined,
  )
  matchObject(
    t,
    emitted(),
    [{ event: 'commitRefused', message: 'is not signed', findings: [] }],
    'findings of another commit are not its own',
  )
})

void t.test('a pending gateway is reported by its target event only, and a stale Ready condition is not reported', async (t) => {
  const { narrator, emitted } = start()
  const waiting = [
    condition('Ready', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
    condition('GatewaysSynced', 'False', 'GatewaysPending', '1 of 1 gateways: plant: OldConfiguration'),
  ]
  narrator.status({ published, conditions: waiting }, true, undefined)
  matchObject(t, emitted(), [{ event: 'published' }])
  const scan = { projects: { finishedAt: at }, finishedAt: at }
  narrator.report('plant', { ...synced, phase: 'Pending', reason: 'GatewayUnreachable', message: 'it does not answer', scan })
  matchObject(t, emitted(), [{ event: 'target', phase: 'Pending', read: [], reason: 'GatewayUnreachable', message: 'it does not answer' }])
  narrator.status(ready, true, undefined)
  t.strictSame(emitted(), [], 'Ready is of an earlier report')
  narrator.report('plant', { ...synced, scan }, { read: ['projects'] })
  matchObject(t, emitted(), [{ event: 'target', phase: 'Synced', read: ['projects'] }])
  narrator.report('plant', { ...synced, phase: 'Drifted', reason: 'Drifted', message: '1 file', scan })
  matchObject(t, emitted(), [{ event: 'target', phase: 'Drifted', read: [] }], 'a check without a scan')
})

void t.test('findings, local changes and gateway problems are reported when they appear, and again if they recur', async (t) => {
  const { narrator, emitted } = start()
  const finding = { rule: 'lfs-pointer', path: 'projects/a', message: 'is a pointer' }
  const found = { ...synced, findings: [finding], scan: { problems: ['a bad resource'] } }
  const remarks = ['projects/a: is a pointer (lfs-pointer)', 'the gateway reports: a bad resource'].map((message) => ({
    event: 'remark',
    target: 'plant',
    message,
  }))
  narrator.report('plant', found)
  t.strictSame(emitted().slice(1), remarks)
  const quiet = { files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } }
  narrator.report('plant', { ...found, ...quiet })
  t.strictSame(emitted(), [])
  narrator.report('plant', { ...synced, ...quiet })
  narrator.report('plant', { ...found, ...quiet })
  t.strictSame(emitted(), remarks)
})

void t.test('a pending push is reported once, and again when the reason changes', async (t) => {
  const { narrator, emitted } = start()
  const pending = (reason: string) => [{ id: 'x', ref: 'typo', outcome: 'Pending' as const, reason, message: 'no such branch', at }]
  const event = { event: 'pushPending', ref: 'typo', message: 'no such branch', stays }
  narrator.status({ ...ready, requests: pending('RefNotFound') }, true, undefined)
  t.strictSame(emitted()[0], { ...event, reason: 'RefNotFound' })
  narrator.status({ ...ready, requests: pending('RefNotFound') }, true, undefined)
  t.strictSame(emitted(), [])
  narrator.status({ ...ready, requests: pending('PushNotVisible') }, true, undefined)
  t.strictSame(emitted(), [{ ...event, reason: 'PushNotVisible' }])
})

void t.test('the end of a pending push is reported once, whether it is handled, superseded or refused', async (t) => {
  const ends = {
    Handled: { event: 'pushHandled', ref: 'v2', commit: second },
    Superseded: { event: 'pushSuperseded', ref: 'v2' },
    Refused: { event: 'pushRefused', ref: 'v2', reason: 'RefNotFound', message: 'no such tag', stays, waited: true },
  }
  for (const [outcome, event] of Object.entries(ends) as ['Handled' | 'Superseded' | 'Refused', object][]) {
    const { narrator, emitted } = start()
    const state = (now: typeof outcome | 'Pending'): GatewaySyncStatus => {
      const reasons = now === 'Pending' || now === 'Refused' ? { reason: 'RefNotFound', message: 'no such tag' } : {}
      return {
        ...ready,
        source: { ref: 'refs/tags/v2', commit: second },
        requests: [{ id: 'x', ref: 'refs/tags/v2', outcome: now, ...reasons, at }],
      }
    }
    narrator.status(state('Pending'), true, undefined)
    emitted()
    narrator.status(state(outcome), true, undefined)
    t.strictSame(emitted(), [event], outcome)
    narrator.status(state(outcome), true, undefined)
    t.strictSame(emitted(), [], `${outcome}, and once`)
  }
})

void t.test('a push that is refused during this run is reported with its reason and the published commit', async (t) => {
  const { narrator, emitted } = start()
  const refused = (id: string) => ({ id, ref: 'typo', outcome: 'Refused' as const, reason: 'RefNotFound', message: 'no such branch', at })
  narrator.status({ ...ready, requests: [refused('old')] }, false, undefined)
  narrator.status({ ...ready, requests: [refused('old'), refused('new')] }, true, undefined)
  t.strictSame(emitted()[0], { event: 'pushRefused', ref: 'typo', reason: 'RefNotFound', message: 'no such branch', stays })
  const superseded = { id: 'x', ref: 'v1', outcome: 'Superseded' as const, at }
  narrator.status({ ...ready, requests: [refused('old'), refused('new'), superseded] }, true, undefined)
  t.strictSame(emitted(), [])
})

void t.test('a fault of the run itself is reported once', async (t) => {
  const { narrator, emitted } = start()
  for (let round = 0; round < 2; round += 1) narrator.failed(new Fault('DiskFull', '/state/state.json: no space is left'))
  t.strictSame(emitted(), [{ event: 'failed', reason: 'DiskFull', message: '/state/state.json: no space is left' }])
})

void t.test('waiting for a first commit is not reported, and after a file edit only readiness is reported again', async (t) => {
  const emitted: Emitted = { last: new Map(), remarks: new Map() }
  const events: RunEvent[] = []
  const narratorOf = () =>
    new Narrator(
      (event) => events.push(event),
      [{ name: 'plant' }],
      () => ({}),
      emitted,
    )
  const found = { ...synced, findings: [{ rule: 'lfs-pointer', path: 'projects/a', message: 'is a pointer' }] }
  const before = narratorOf()
  before.report('plant', { phase: 'Pending', reason: 'CommitNotPublished', message: 'no commit is published yet', finishedAt: at })
  t.strictSame(events, [])
  before.report('plant', found)
  before.status(ready, true, undefined)
  t.strictSame(
    events.splice(0).map(({ event }) => event),
    ['target', 'remark', 'published', 'ready'],
  )
  const after = narratorOf()
  after.report('plant', { ...found, files: { added: 0, changed: 0, removed: 0, unchanged: 3, bytes: 0 } })
  after.status(ready, true, undefined)
  t.strictSame(
    events.map(({ event }) => event),
    ['ready'],
  )
})
