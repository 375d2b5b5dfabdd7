/**
 * An agent and a controller of adjacent releases: an agent ignores unknown fields that it does not need and reports those that it does
 * need.
 */
import t from 'tap'
import * as v from 'valibot'
import { desiredSync, type FollowedSync } from '../../../../runtime/agent/desired.ts'
import { type GatewayPod, observeGateways, parseReport } from '../../../../runtime/reconcile/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { matchObject } from '../../../support/assertions.ts'

const commit = 'a'.repeat(40)
const facts = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }
const pod: GatewayPod = {
  namespace: 'plant',
  name: 'gw-0',
  uid: 'u',
  annotations: {},
  injected: true,
  terminating: false,
  labels: {},
  agentDown: undefined,
}
const own = { mappings: [{ source: 'a', destination: 'a' }] }
const document = (sync: object, more: object = {}) => ({
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: own }, ...sync },
  ...more,
})
const followed = (spec: unknown): FollowedSync => ({
  uid: 'u',
  annotations: {},
  spec,
  status: { published: { commit, ref: 'main', at: '2026-01-01T00:00:00Z' }, delivery: { url: 'https://d:9445', caBundle: 'PEM' } },
})

void t.test('a GatewaySync of a later release is followed while its new fields do not affect this agent', async (t) => {
  const plain = desiredSync('plant', followed(document({})), facts, undefined)
  const rows: [string, unknown][] = [
    ['a new field of another part', document({}, { approvals: { needed: 1 } })],
    ['a new value in a part that agents do not use', document({}, { polling: { enabled: 'sometimes' }, webhook: 1 })],
    ['a new value in the profile of others', document({ profiles: { default: own, other: { ...own, drift: 'ignore' } } })],
  ]
  for (const [name, spec] of rows) t.strictSame(desiredSync('plant', followed(spec), facts, undefined), plain, name)
})

void t.test('an unknown field that affects agents is ignored and reported; an unknown value blocks the agent', async (t) => {
  const fields = document({ defaults: { settleTime: '5s' }, profiles: { default: { mappings: [{ ...own.mappings[0], owner: 'x' }] } } })
  matchObject(t, desiredSync('plant', followed(fields), facts, undefined), {
    kind: 'sync',
    ignoredFields: ['sync.defaults.settleTime', 'sync.profiles.default.mappings[0].owner'],
  })
  const besides = document({ settle: true }, { validation: { level: 3 } })
  matchObject(t, desiredSync('plant', followed(besides), facts, undefined), {
    kind: 'sync',
    ignoredFields: ['validation.level', 'sync.settle'],
  })
  const value = document({ defaults: { drift: 'ignore' } })
  matchObject(t, desiredSync('plant', followed(value), facts, undefined), {
    kind: 'idle',
    phase: 'Blocked',
    fault: { reason: 'InvalidSpec' },
  })
})

void t.test('the controller reports an agent as outdated only if the spec uses a field that the agent lacks', async (t) => {
  const spec = v.parse(
    gatewaySyncSpec({ allowLocal: false }),
    document({ defaults: { startGrace: '1m' } }, { validation: { policy: 'Warn' } }),
  )
  const desired = syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
  const stateOf = (status: object) => {
    const reports = new Map([['gw-0', parseReport('u', { commit, agentVersion: '0.1.0', ...status })]])
    const [gateway] = observeGateways(spec, commit, [pod], reports)
    return [gateway?.state, gateway?.reason]
  }
  const other = `v1-${'0'.repeat(64)}`
  t.strictSame(stateOf({ phase: 'Synced', syncHash: desired }), ['synced', undefined])
  t.strictSame(stateOf({ phase: 'Synced', syncHash: desired, ignoredFields: ['sync.defaults.startDeadline'] }), ['synced', undefined])
  t.strictSame(stateOf({ phase: 'Synced', syncHash: other }), ['pending', 'OldConfiguration'])
  t.strictSame(stateOf({ phase: 'Synced', syncHash: other, ignoredFields: ['sync.defaults.startDeadline'] }), [
    'pending',
    'OldConfiguration',
  ])
  t.strictSame(stateOf({ phase: 'Synced', syncHash: other, ignoredFields: ['sync.defaults.startGrace'] }), ['blocked', 'AgentOutdated'])
  t.strictSame(
    stateOf({ phase: 'Synced', syncHash: desired, ignoredFields: ['validation.policy'] }),
    ['blocked', 'AgentOutdated'],
    'it is in no hash, and agents act on it',
  )
  t.strictSame(stateOf({ phase: 'Blocked', reason: 'InvalidSpec', message: 'spec.x: ?' }), ['blocked', 'AgentOutdated'])
  t.strictSame(
    stateOf({ phase: 'Synced', syncHash: '0'.repeat(64) }),
    ['blocked', 'AgentOutdated'],
    'a report of before the rule had a name',
  )
})
