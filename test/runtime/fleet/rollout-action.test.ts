/**
 * What `approve`, `abort` and `resume` request of a rollout, when they refuse, and how they report the answer.
 */
import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { RequestedSync } from '../../../runtime/fleet/action.ts'
import { actionProgress, rolloutActionRequest, type RolloutActionRequest } from '../../../runtime/fleet/rollout-action.ts'
import { rolloutAnnotations } from '../../../runtime/api/names.ts'
import type { RolloutVerb } from '../../../runtime/reconcile/rollout/action.ts'
import type { RolloutStatus } from '../../../runtime/api/schema/rollout-status.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { commit, earlier, syncFacts } from '../../support/fleet-facts.ts'

const at = '2026-03-01T11:59:00Z'
const who = { by: 'ann', at }
const stage = { gateways: 1, updated: 0, failed: 0 }
const going: RolloutStatus = {
  state: 'Progressing',
  id: 'r1',
  commit,
  configurations: {},
  startedAt: at,
  stage: 'plant',
  waitsFor: 'Approval',
  stages: [
    { name: 'test', ...stage },
    { name: 'plant', ...stage },
  ],
}

function asked(rollout: RolloutStatus | undefined): RequestedSync {
  return { ...syncFacts('plant', rollout === undefined ? {} : { rollout }), generation: 1 }
}

function told(rollout: RolloutStatus | undefined, verb: RolloutVerb, stage?: string): string {
  try {
    return rolloutActionRequest(asked(rollout), { verb, stage }, who).annotations[rolloutAnnotations.action] ?? ''
  } catch (error) {
    if (error instanceof Fault) return `${error.reason}: ${error.message}`
    throw error
  }
}

type Row = { name: string; rollout: RolloutStatus | undefined; verb: RolloutVerb; stage?: string; is: string | RegExp }
const done: RolloutStatus = { ...going, state: 'Done' }
const rows: Row[] = [
  { name: 'the stage that waits is approved', rollout: going, verb: 'approve', is: 'approve r1 plant' },
  { name: 'another stage is approved beforehand', rollout: going, verb: 'approve', stage: 'test', is: 'approve r1 test' },
  {
    name: 'a stage that is not there',
    rollout: going,
    verb: 'approve',
    stage: 'tset',
    is: /there is no stage "tset"; its stages are test, plant/,
  },
  {
    name: 'nothing waits for approval',
    rollout: { ...going, waitsFor: 'Soak' },
    verb: 'approve',
    is: /^InvalidConfiguration: no stage waits for approval; name one with --stage/,
  },
  { name: 'a rollout that is done has nothing to approve', rollout: done, verb: 'approve', is: /has already ended \(Done\)/ },
  { name: 'a rollout that is under way is aborted', rollout: going, verb: 'abort', is: 'abort r1' },
  { name: 'a rollout that stands is aborted', rollout: { ...going, state: 'Stopped' }, verb: 'abort', is: 'abort r1' },
  { name: 'a rollout that is done cannot be aborted', rollout: done, verb: 'abort', is: /has already ended \(Done\)/ },
  {
    name: 'one that went back cannot be aborted',
    rollout: { ...going, state: 'RolledBack' },
    verb: 'abort',
    is: /already ended \(RolledBack\)/,
  },
  { name: 'one that stands is resumed', rollout: { ...going, state: 'Stopped' }, verb: 'resume', is: 'resume r1' },
  { name: 'one that went back is tried again', rollout: { ...going, state: 'RolledBack' }, verb: 'resume', is: 'resume r1' },
  { name: 'without stages there is nothing to abort', rollout: undefined, verb: 'abort', is: /has no rollout: it has no spec.rollout/ },
]

for (const { name, rollout, verb, stage, is } of rows) {
  void t.test(name, (t) => {
    const text = told(rollout, verb, stage)
    if (typeof is === 'string') t.equal(text, is)
    else containsText(t, text, is)
    t.end()
  })
}

void t.test('a request carries its user and time, and its digest differs with either', (t) => {
  const { annotations, digest } = rolloutActionRequest(asked(going), { verb: 'abort' }, who)
  matchObject(t, annotations, { [rolloutAnnotations.by]: 'ann', [rolloutAnnotations.at]: at })
  t.not(rolloutActionRequest(asked(going), { verb: 'abort' }, { ...who, by: 'bob' }).digest, digest)
  t.equal(rolloutActionRequest(asked(going), { verb: 'abort' }, who).digest, digest)
  t.end()
})

const action = (verb: RolloutVerb): RolloutActionRequest => rolloutActionRequest(asked(going), { verb }, who)
const answered = (verb: RolloutVerb, change: Partial<RolloutStatus>) =>
  actionProgress(asked({ ...going, lastAction: action(verb).digest, ...change }), action(verb))

for (const [name, verdict, is] of [
  [
    'an abort that nobody has acted on is waited for',
    actionProgress(asked(going), action('abort')),
    { kind: 'waiting', sentence: 'the controller has not responded yet' },
  ],
  [
    'an abort names the commit that gateways go back to',
    answered('abort', { state: 'RolledBack', commit: earlier }),
    { outcome: { done: true, outcome: 'Aborted', message: 'its gateways return to commit 99887766' } },
  ],
  [
    'an abort of a configuration says that there is no way back',
    answered('abort', { state: 'Stopped' }),
    { outcome: { done: true, outcome: 'Aborted', message: /there is no previous commit to return to/ } },
  ],
  [
    'an abort that came when all was done did nothing',
    answered('abort', { state: 'Done' }),
    { outcome: { done: false, outcome: 'Stuck', message: 'the rollout is Done' } },
  ],
  ['a resume goes on', answered('resume', {}), { outcome: { done: true, outcome: 'Resumed', message: /of commit 1a2b3c4d continues/ } }],
  [
    'a resume that fails again at once says why',
    answered('resume', { state: 'Stopped', reason: 'RolloutFailed', message: '1 of 1 gateways of stage test failed' }),
    { outcome: { done: false, outcome: 'Stuck', message: /is Stopped: 1 of 1 gateways/, reason: 'RolloutFailed' } },
  ],
] as const) {
  void t.test(name, (t) => {
    matchObject(t, verdict, is)
    t.end()
  })
}
