/**
 * What the log tells of a GatewaySync: changes of state, each with the request that caused it, and nothing of a status that says the same.
 */
import t from 'tap'
import { logChanges } from '../../../runtime/controller/lead/log-changes.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'

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

void t.test('a commit that is published, and what becomes of Ready, are told with the request', async (t) => {
  const about = { namespace: 'plant', name: 'line', requestId: 'r-1' }
  t.same(told({}, status(undefined, 'False', 'NothingPublished', 'r-1')), [
    ['not ready', { ...about, reason: 'NothingPublished', message: 'm' }],
  ])
  t.same(told(status(one, 'True', 'Synced'), status(two, 'False', 'GatewaysPending', 'r-1')), [
    ['commit published', { ...about, ref: 'main', commit: two }],
    ['not ready', { ...about, commit: two, reason: 'GatewaysPending', message: 'm' }],
  ])
  t.same(told(status(two, 'False', 'GatewaysPending', 'r-1'), status(two, 'True', 'Synced', 'r-1')), [
    ['ready', { ...about, commit: two, reason: 'Synced', message: 'm' }],
  ])
})

void t.test('what no request asked for has no id, and what has not changed is not told', async (t) => {
  t.same(told(status(undefined, 'False', 'NothingPublished'), status(one, 'False', 'NothingPublished')), [
    ['commit published', { namespace: 'plant', name: 'line', ref: 'main', commit: one }],
  ])
  t.same(told(status(one, 'True', 'Synced', 'r-1'), status(one, 'True', 'Synced', 'r-2')), [])
})
