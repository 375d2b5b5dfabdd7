import t from 'tap'
import { agentHealth } from '../../../runtime/agent/health.ts'
import { desiredSync, type FollowedSync } from '../../../runtime/agent/desired.ts'

const pod = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }

function desired(profile: object, status: FollowedSync['status'] = published) {
  const spec = {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }], ...profile } } },
  }
  return desiredSync('plant', { annotations: {}, spec, status }, pod, undefined)
}
const published: FollowedSync['status'] = {
  published: { commit: 'a'.repeat(40), ref: 'main', at: '2026-01-01T00:00:00Z' },
  delivery: { url: 'https://d', caBundle: 'PEM' },
}

void t.test('a gateway waits for its first good sync and for nothing else', async (t) => {
  const base = { synced: false, steppingForMs: 0, sinceStartMs: 1_000, stopping: false }
  t.match(agentHealth({ ...base, desired: undefined }), { started: false }, 'before the GatewaySync was read')
  t.match(agentHealth({ ...base, desired: undefined, sinceStartMs: 180_000 }), { started: true }, 'a GatewaySync that stays unreadable')
  t.match(agentHealth({ ...base, desired: desired({}) }), { started: false }, 'block, not synced')
  t.match(agentHealth({ ...base, desired: desired({}), synced: true }), { started: true }, 'block, synced')
  t.match(agentHealth({ ...base, desired: desired({ startPolicy: 'start' }) }), { started: true }, 'start')
  t.match(agentHealth({ ...base, desired: desired({ paused: true }) }), { started: true }, 'paused')
  t.match(agentHealth({ ...base, desired: desired({ dryRun: true }) }), { started: true }, 'dry run')
  t.match(agentHealth({ ...base, desired: desired({}, {}) }), { started: true }, 'nothing published')
  t.match(agentHealth({ ...base, desired: desiredSync('plant', undefined, pod, undefined) }), { started: true }, 'no GatewaySync')
  t.match(agentHealth({ ...base, desired: desired({}), stopping: true }), { started: true }, 'shutting down')
})

void t.test('an agent whose loop stands still is not live', async (t) => {
  const facts = { desired: desired({}), synced: true, sinceStartMs: 1_000, stopping: false }
  t.match(agentHealth({ ...facts, steppingForMs: 1_000 }), { live: true })
  t.match(agentHealth({ ...facts, steppingForMs: 1_000_000 }), { live: false })
})
