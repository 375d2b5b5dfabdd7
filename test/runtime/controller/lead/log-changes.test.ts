/**
 * The log lines of a GatewaySync: changes of state with the request that caused them, and none for an unchanged status.
 */
import t from 'tap'
import { logChanges } from '../../../../runtime/controller/lead/log-changes.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'

const [one, two] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T12:00:00Z'

function status(commit: string | undefined, ready: 'True' | 'False', reason: string, requestId?: string): GatewaySyncStatus {
  const requested = requestId === undefined ? {} : { requested: { ref: 'main', id: requestId, specRef: 'main' } }
  return {
    conditions: [{ type: 'Ready', status: ready, reason, message: 'm', lastTransitionTime: at }],
    ...(commit === undefined ? {} : { published: { commit, ref: 'main', at } }),
    source: { ref: 'main', ...requested },
  }
}

function told(before: GatewaySyncStatus, after: GatewaySyncStatus): unknown[] {
  const lines: unknown[] = []
  logChanges({ info: (fields, message) => lines.push([message, fields]) }, { namespace: 'plant', name: 'line', status: before }, after)
  return lines
}

void t.test('a published commit and a change of Ready are logged with the request', async (t) => {
  const about = { namespace: 'plant', name: 'line', requestId: 'r-1' }
  t.strictSame(told({}, status(undefined, 'False', 'NothingPublished', 'r-1')), [
    ['not ready', { ...about, reason: 'NothingPublished', message: 'm' }],
  ])
  t.strictSame(told(status(one, 'True', 'Synced'), status(two, 'False', 'GatewaysPending', 'r-1')), [
    ['commit published', { ...about, ref: 'main', commit: two }],
    ['not ready', { ...about, commit: two, reason: 'GatewaysPending', message: 'm' }],
  ])
  t.strictSame(told(status(two, 'False', 'GatewaysPending', 'r-1'), status(two, 'True', 'Synced', 'r-1')), [
    ['ready', { ...about, commit: two, reason: 'Synced', message: 'm' }],
  ])
})

void t.test('a change without a request is logged without an ID, and an unchanged status is not logged', async (t) => {
  t.strictSame(told(status(undefined, 'False', 'NothingPublished'), status(one, 'False', 'NothingPublished')), [
    ['commit published', { namespace: 'plant', name: 'line', ref: 'main', commit: one }],
  ])
  t.strictSame(told(status(one, 'True', 'Synced', 'r-1'), status(one, 'True', 'Synced', 'r-2')), [])
})
