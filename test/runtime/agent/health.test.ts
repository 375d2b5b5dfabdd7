import t from 'tap'
import { desiredSync, type FollowedSync } from '../../../runtime/agent/desired.ts'
import { agentHealth, startupHold } from '../../../runtime/agent/health.ts'
import { matchObject } from '../../support/assertions.ts'

const pod = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }

/** The startup hold settings of a profile, as the agent reads them from its GatewaySync. */
function settings(profile: object, status: FollowedSync['status'] = published, more: object = {}) {
  const spec = {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }], ...profile } } },
    ...more,
  }
  return desiredSync('plant', { uid: 'u', annotations: {}, spec, status }, pod, undefined).start
}
const published: FollowedSync['status'] = {
  published: { commit: 'a'.repeat(40), ref: 'main', at: '2026-01-01T00:00:00Z' },
  delivery: { url: 'https://d', caBundle: 'PEM' },
}

void t.test('a gateway without a commit waits for one until startDeadline', async (t) => {
  const base = { synced: false, hasCommit: false, sinceStartMs: 599_999 }
  const rows: [string, ReturnType<typeof settings> | undefined][] = [
    ['before the GatewaySync was read', undefined],
    ['there is no GatewaySync', desiredSync('plant', undefined, pod, undefined).start],
    ['the spec is invalid', settings({ mappings: 'none' })],
    ['the profile does not exist', desiredSync('plant', { uid: 'u', annotations: {}, spec: {}, status: {} }, pod, undefined).start],
    ['nothing is published yet', settings({}, {})],
    ['a commit is published', settings({})],
  ]
  for (const [name, given] of rows) {
    matchObject(t, startupHold({ ...base, settings: given }), { kind: 'held', forMs: 1 }, name)
    matchObject(t, startupHold({ ...base, settings: given, sinceStartMs: 600_000 }), { kind: 'open', by: 'deadline' }, name)
  }
  const short = settings({ startDeadline: '2m' }, {})
  matchObject(t, startupHold({ ...base, settings: short, sinceStartMs: 119_000 }), { kind: 'held', forMs: 1_000 })
  matchObject(t, startupHold({ ...base, settings: short, sinceStartMs: 120_000 }), { kind: 'open', by: 'deadline' })
})

void t.test('a gateway with a complete commit waits for the published one until startGrace', async (t) => {
  const base = { synced: false, hasCommit: true, sinceStartMs: 29_000 }
  for (const given of [undefined, settings({}), settings({}, {})]) {
    matchObject(t, startupHold({ ...base, settings: given }), { kind: 'held', forMs: 1_000 })
    matchObject(t, startupHold({ ...base, settings: given, sinceStartMs: 30_000 }), { kind: 'open', by: 'grace' })
  }
  matchObject(t, startupHold({ ...base, settings: settings({ startGrace: '0s' }), sinceStartMs: 0 }), { kind: 'open', by: 'grace' })
})

void t.test('a gateway that has the published commit, or whose profile writes nothing, is not held', async (t) => {
  const base = { synced: false, hasCommit: false, sinceStartMs: 0 }
  matchObject(t, startupHold({ ...base, settings: settings({}), synced: true }), { kind: 'open', by: 'synced' })
  const rows: [string, ReturnType<typeof settings>][] = [
    ['start', settings({ startPolicy: 'Start' })],
    ['start, nothing published', settings({ startPolicy: 'Start' }, {})],
    ['paused', settings({ paused: true })],
    ['all paused', settings({}, published, { paused: true })],
    ['dry run', settings({ dryRun: true })],
  ]
  for (const [name, given] of rows) matchObject(t, startupHold({ ...base, settings: given }), { kind: 'open', by: 'policy' }, name)
})

void t.test('the startup probe follows the hold; an agent that shuts down holds no gateway', async (t) => {
  const held = { kind: 'held' as const, forMs: 1, why: 'no commit' }
  t.strictSame(agentHealth({ hold: held, syncingForMs: 0, stopping: false }), { started: false, live: true, why: 'no commit' })
  matchObject(t, agentHealth({ hold: held, syncingForMs: 0, stopping: true }), { started: true })
  matchObject(t, agentHealth({ hold: { kind: 'open', by: 'grace' }, syncingForMs: 0, stopping: false }), { started: true, why: undefined })
})

void t.test('an agent whose step does not end is not live', async (t) => {
  const facts = { hold: { kind: 'open' as const, by: 'synced' as const }, stopping: false }
  matchObject(t, agentHealth({ ...facts, syncingForMs: 1_000 }), { live: true })
  matchObject(t, agentHealth({ ...facts, syncingForMs: 1_000_000 }), { live: false, why: 'a sync did not finish in time' })
})
