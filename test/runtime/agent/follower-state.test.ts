/**
 * The follower's state machine: sequences of events, and the effects of the last event.
 */
import fc from 'fast-check'
import t from 'tap'
import type { FollowedSync, PodFacts } from '../../../runtime/agent/desired.ts'
import {
  type FollowerEffect,
  type FollowerEvent,
  type FollowerState,
  startupHoldOf,
  healthOf,
  initialState,
  next,
} from '../../../runtime/agent/follower-state.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, requestAnnotations } from '../../../runtime/api/names.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { CycleResult } from '../../../runtime/sync/cycle.ts'
import { resolveProfile, syncHash } from '../../../runtime/api/schema/profile.ts'
import { readFollowedSpec } from '../../../runtime/api/schema/followed-spec.ts'
import { matchObject } from '../../support/assertions.ts'

const request = { [requestAnnotations.id]: 'push-1' }
const pod: PodFacts = { podName: 'gw-0', namespace: 'plant', annotations: {}, labels: {} }
const commit = '1'.repeat(40)
const other = '2'.repeat(40)

const spec = (paused = false) => ({
  git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
  paused,
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
})

function followed({
  paused = false,
  published = commit,
  annotations = {},
}: { paused?: boolean; published?: string | null; annotations?: FollowedSync['annotations'] } = {}): FollowedSync {
  return {
    uid: 'u',
    annotations,
    spec: spec(paused),
    status: {
      ...(published === null ? {} : { published: { commit: published, ref: 'main' } }),
      delivery: { url: 'https://delivery', caBundle: '' },
    } as unknown as FollowedSync['status'],
  }
}

/** The hash of the configuration in `spec`. */
function hashOfSpec(): string {
  const read = readFollowedSpec(spec(), 'default')
  if (read.kind === 'invalid') throw new Error(read.message)
  return syncHash(resolveProfile(read.spec.sync, 'default'), read.spec.gateway)
}

const inPlace = { commit, syncHash: hashOfSpec() }
const synced: CycleResult = { phase: 'Synced', ref: 'main', ...inPlace }
const at = '2026-01-01T00:00:00Z'

const observed = (sync: FollowedSync | undefined): FollowerEvent => ({ kind: 'observed', followed: sync, inPlace: undefined, at })
const podRead: FollowerEvent = { kind: 'podRead', pod, inPlace: undefined, at }
const cycleBegan: FollowerEvent = { kind: 'cycleBegan', inPlace: undefined, at }
const cycleEnded = (result: CycleResult): FollowerEvent => ({ kind: 'cycleEnded', result, startedAt: at, at })
const volumeRead = (hasCommit: boolean): FollowerEvent => ({ kind: 'volumeRead', hasCommit })
const unreadable: FollowerEvent = { kind: 'recoveryFailed', fault: new Fault('NotWritable', 'this user may not read it'), at }
const bug: FollowerEvent = { kind: 'syncFailed', fault: new Fault('Unexpected', 'a bug'), at }

const born = (bornMs = 0, recoveringMs = 0): FollowerState =>
  initialState({ gatewaySync: 'plant', agentVersion: '1.0.0', waitedMs: bornMs, recoveringMs, bornMs })
const start = (): FollowerState => next(born(), { kind: 'recovered' }, 0).state

/** The state after all events, and the effects of the last one; all events happen at `atMs`. */
function after(events: readonly FollowerEvent[], atMs = 0): { state: FollowerState; effects: readonly FollowerEffect[] } {
  return events.reduce<{ state: FollowerState; effects: readonly FollowerEffect[] }>(({ state }, event) => next(state, event, atMs), {
    state: start(),
    effects: [],
  })
}

type Row = { name: string; events: FollowerEvent[]; atMs?: number; effects: object[] }

const rows: Row[] = [
  { name: 'the first GatewaySync that the watch delivers is looked at', events: [observed(followed())], effects: [{ kind: 'wake' }] },
  { name: 'that there is no GatewaySync is news too', events: [observed(undefined)], effects: [{ kind: 'wake' }] },
  { name: 'the same GatewaySync again is no news', events: [observed(followed()), observed(followed())], effects: [] },
  { name: 'another commit is news', events: [observed(followed()), observed(followed({ published: other }))], effects: [{ kind: 'wake' }] },
  {
    name: 'a request is news while what is published is not in place',
    events: [observed(followed()), observed(followed({ annotations: request }))],
    effects: [{ kind: 'wake' }],
  },
  {
    name: 'a request is no news where what is published is in place: it is for the controller to answer',
    events: [observed(followed()), podRead, cycleEnded(synced), observed(followed({ annotations: request }))],
    effects: [],
  },
  {
    name: 'the confirmation of deletions is news all the same',
    events: [
      observed(followed()),
      podRead,
      cycleEnded(synced),
      observed(followed({ annotations: { [confirmDeletionsAnnotation]: other } })),
    ],
    effects: [{ kind: 'wake' }],
  },
  {
    name: 'and so is the confirmation that local changes may be lost',
    events: [
      observed(followed()),
      podRead,
      cycleEnded(synced),
      observed(followed({ annotations: { [confirmOverwritesAnnotation]: other } })),
    ],
    effects: [{ kind: 'wake' }],
  },
  {
    name: 'and so is a request where the gateway has not read the files yet',
    events: [
      observed(followed()),
      podRead,
      cycleEnded({ ...synced, phase: 'Pending', reason: 'GatewayNotReady' }),
      observed(followed({ annotations: request })),
    ],
    effects: [{ kind: 'wake' }],
  },
  {
    name: 'a pause ends the cycle under way at once',
    events: [observed(followed()), podRead, observed(followed({ paused: true }))],
    effects: [{ kind: 'halt' }, { kind: 'wake' }],
  },
  {
    name: 'so does the end of the GatewaySync',
    events: [observed(followed()), podRead, observed(undefined)],
    effects: [{ kind: 'halt' }, { kind: 'wake' }],
  },
  {
    name: 'another commit lets the cycle under way end by itself',
    events: [observed(followed()), podRead, observed(followed({ published: other }))],
    effects: [{ kind: 'wake' }],
  },
  {
    name: 'without a published commit the report says what is waited for',
    events: [observed(followed({ published: null })), podRead],
    effects: [{ kind: 'report', status: { phase: 'Pending', reason: 'CommitNotPublished', gateway: 'gw-0', finishedAt: at } }],
  },
  {
    name: 'a cycle that brings another commit is reported when it begins',
    events: [observed(followed()), podRead, cycleBegan],
    effects: [{ kind: 'report', status: { phase: 'Syncing', profile: 'default', startedAt: at } }],
  },
  {
    name: 'a look at what is in place already is not',
    events: [observed(followed()), podRead, { kind: 'cycleBegan', inPlace, at }],
    effects: [],
  },
  {
    name: 'a cycle under a pause is not reported when it begins',
    events: [observed(followed({ paused: true })), podRead, cycleBegan],
    effects: [],
  },
  {
    name: 'a cycle is reported with its commit when it ends',
    events: [observed(followed()), podRead, cycleBegan, cycleEnded(synced)],
    effects: [{ kind: 'report', status: { phase: 'Synced', commit, agentVersion: '1.0.0', history: [{ commit, phase: 'Synced' }] } }],
  },
  {
    name: 'a bug keeps what the last report said to be in place',
    events: [observed(followed()), podRead, cycleEnded(synced), bug],
    effects: [{ kind: 'report', status: { phase: 'Failed', reason: 'Unexpected', commit } }],
  },
  { name: 'an empty volume holds the gateway back', events: [volumeRead(false)], atMs: 599_999, effects: [] },
  {
    name: 'at the deadline it starts without a commit, which is logged and reported at once',
    events: [volumeRead(false)],
    atMs: 600_000,
    effects: [{ kind: 'startsWithoutCommit' }, { kind: 'wake' }],
  },
  { name: 'a volume with a complete commit starts after a moment, in silence', events: [volumeRead(true)], atMs: 30_000, effects: [] },
  { name: 'what has opened is not noted twice', events: [volumeRead(false), { kind: 'holdChecked' }], atMs: 600_000, effects: [] },
]

for (const { name, events, atMs, effects } of rows) {
  void t.test(name, async (t) => {
    const found = after(events, atMs).effects
    t.equal(found.length, effects.length)
    matchObject(t, found, effects)
  })
}

void t.test('a retry of a blocked commit is not reported as Syncing; a retry after a failure or a new commit is', async (t) => {
  const blocked: CycleResult = { phase: 'Blocked', reason: 'TemplateFailed', message: 'no such variable' }
  const once = [observed(followed()), podRead, cycleBegan, cycleEnded(blocked), podRead]
  const told = (events: FollowerEvent[]): unknown[] =>
    after(events).effects.map((effect) => (effect.kind === 'report' ? effect.status.phase : effect.kind))
  t.strictSame(told([observed(followed()), podRead, cycleBegan]), ['Syncing'])
  t.strictSame(told([...once, cycleBegan]), [])
  t.strictSame(told([...once, observed(followed({ published: other })), podRead, cycleBegan]), ['Syncing'])
  const ended = (result: CycleResult): unknown[] =>
    told([observed(followed()), podRead, cycleBegan, cycleEnded(result), podRead, cycleBegan])
  t.strictSame(ended({ phase: 'Pending', reason: 'DesignerOpen', message: '' }), [])
  for (const result of [
    { phase: 'Failed', reason: 'DiskFull', message: '' },
    { phase: 'Pending', reason: 'TooManyRequests', message: '' },
  ] as const)
    t.strictSame(ended(result), ['Syncing'], 'it has its turn, or the cause may be gone')
})

void t.test('failures in a row include failed cycles and unexpected errors', async (t) => {
  const failed = cycleEnded({ phase: 'Failed', reason: 'DiskFull', message: 'full' })
  const followedPod = [observed(followed()), podRead]
  t.equal(after([...followedPod, failed, bug]).state.failures, 2)
  t.equal(after([...followedPod, failed, bug, cycleEnded(synced)]).state.failures, 0)
})

void t.test('the finding that the gateway started without a commit stays until a commit is applied', async (t) => {
  const late = [observed(followed()), volumeRead(false), podRead]
  const failed = after([...late, cycleEnded({ phase: 'Failed', reason: 'DiskFull', message: 'full' })], 600_000)
  matchObject(t, failed.effects, [{ status: { findings: [{ rule: 'started-without-commit' }] } }])
  const { effects } = after([...late, cycleEnded(synced)], 600_000)
  t.equal(
    effects.some((effect) => effect.kind === 'report' && effect.status.findings !== undefined),
    false,
  )
})

void t.test('a gateway that has started is not held again when the GatewaySync is deleted', async (t) => {
  const { state } = after([observed(followed()), volumeRead(false), podRead, cycleEnded(synced), observed(undefined), podRead])
  t.strictSame(startupHoldOf(state, 0), { kind: 'open', by: 'synced' })
})

void t.test('a sync that takes too long fails liveness; an idle agent stays live for hours', async (t) => {
  const hours = 10 * 3_600_000
  matchObject(t, healthOf(after([{ kind: 'syncBegan' }]).state, hours), { live: false })
  matchObject(t, healthOf(after([{ kind: 'syncBegan' }, { kind: 'syncEnded' }]).state, hours), { live: true })
  matchObject(t, healthOf(after([{ kind: 'syncBegan' }, { kind: 'stopped' }]).state, hours), { live: true, started: true })
})

void t.test('the history holds the last five outcomes, newest first, without consecutive repeats', async (t) => {
  const results: CycleResult[] = ['a', 'b', 'b', 'c', 'd', 'e', 'f'].map((letter) => ({ ...synced, commit: letter.repeat(40) }))
  const { state } = after([observed(followed()), podRead, ...results.map(cycleEnded)])
  t.strictSame(
    state.reported?.history?.map((entry) => entry.commit.slice(0, 1)),
    ['f', 'e', 'd', 'c', 'b'],
  )
})

void t.test('for any sequence of events every report names the agent version, and an open hold stays open', async () => {
  const event = fc.constantFrom<FollowerEvent>(
    observed(followed()),
    observed(followed({ paused: true })),
    observed(undefined),
    volumeRead(false),
    volumeRead(true),
    podRead,
    cycleBegan,
    cycleEnded(synced),
    cycleEnded({ phase: 'Pending', reason: 'GatewayStarting' }),
    bug,
    { kind: 'holdChecked' },
    unreadable,
    { kind: 'recovered' },
    { kind: 'syncBegan' },
    { kind: 'syncEnded' },
  )
  fc.assert(
    fc.property(fc.array(fc.record({ event, laterMs: fc.integer({ min: 0, max: 400_000 }) })), (steps) => {
      let state = start()
      let nowMs = 0
      return steps.every(({ event, laterMs }) => {
        nowMs += laterMs
        const before = state
        const { state: now, effects } = next(before, event, nowMs)
        state = now
        const named = effects.every((effect) => effect.kind !== 'report' || effect.status.agentVersion === '1.0.0')
        return named && (before.opened === undefined || now.opened === before.opened)
      })
    }),
  )
})

void t.test('the gateway of an old pod also waits for the recovery of an interrupted apply, within limits', async (t) => {
  const [age, minute] = [3_600_000, 60_000]
  const old = born(age)
  matchObject(t, startupHoldOf(old, age), { kind: 'held', forMs: 10 * minute })
  matchObject(t, healthOf(next(old, { kind: 'holdChecked' }, age).state, age), {
    started: false,
    live: true,
    why: /recovering an interrupted apply/,
  })
  const recovered = next(old, { kind: 'recovered' }, age)
  t.strictSame(recovered.effects, [], 'nobody has read the volume yet')
  matchObject(t, next(recovered.state, volumeRead(true), age).state.opened, { by: 'grace' })
  matchObject(t, startupHoldOf(old, age + 10 * minute), { kind: 'open' }, 'where that never ends')
  matchObject(t, startupHoldOf(born(age, 9 * minute), age), { kind: 'held', forMs: minute }, 'over all processes that try')
  matchObject(t, startupHoldOf(born(age, 10 * minute), age), { kind: 'open' }, 'where each of them died of it')
})

void t.test('a failed recovery is reported while it is retried, and the gateway stays held', async (t) => {
  const [age, minute] = [3_600_000, 60_000]
  const tried = next(born(age), unreadable, age)
  t.strictSame(tried.effects, [], 'to nobody, while no GatewaySync was seen')
  t.strictSame(next(tried.state, observed(undefined), age).effects, [{ kind: 'wake' }])
  const seen = next(tried.state, observed(followed()), age)
  const report = {
    kind: 'report',
    status: { phase: 'Failed', reason: 'NotWritable', message: 'this user may not read it', finishedAt: at },
  }
  matchObject(t, seen.effects, [report, { kind: 'wake' }])
  matchObject(t, next(next(born(age), observed(followed()), age).state, unreadable, age).effects, [report], 'at once where one was seen')
  matchObject(t, startupHoldOf(seen.state, age + 9 * minute), {
    kind: 'held',
    why: /interrupted apply, and retries: this user may not read it \(NotWritable\)/,
  })
  const over = next(seen.state, { kind: 'recovered' }, age).state
  matchObject(t, next(over, volumeRead(true), age).state.opened, { by: 'grace' })
  t.strictSame(next(over, observed(followed({ published: other })), age).effects, [{ kind: 'wake' }], 'and not after its end')
})
