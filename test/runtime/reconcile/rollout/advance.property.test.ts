/**
 * Tests staged rollouts under any order of events: pushes, bad commits, pods that come and go, changed stages, pauses, windows, approvals,
 * aborts and resumes. The in-memory fleet decides as the controller and the agents do.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { skipStagesAnnotation } from '../../../../runtime/api/names.ts'
import { amountOf, membersOf } from '../../../../runtime/reconcile/rollout/stages.ts'
import { podHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import { isOpen } from '../../../../runtime/reconcile/rollout/windows.ts'
import { commitOf, stagedFleet, type StagedFleet } from '../../../support/staged-fleet.ts'

type Rollout = NonNullable<Parameters<typeof stagedFleet>[0]>

const names = ['gw-1', 'gw-2', 'gw-3', 'gw-4', 'gw-5', 'gw-6']
const lineOf = (name: string) => ({ line: name <= 'gw-2' ? 'test' : 'plant' })
const test = { name: 'test', selector: { matchLabels: { line: 'test' } } }

const rollouts: readonly Rollout[] = [
  {
    stages: [
      { ...test, maxConcurrent: 1 },
      { name: 'plant', maxConcurrent: 2 },
    ],
    onFailure: 'Rollback',
  },
  {
    stages: [
      { ...test, soak: '10m' },
      { name: 'plant', maxConcurrent: '25%', soak: '5m' },
    ],
    failureThreshold: 2,
  },
  {
    stages: [
      { name: 'one', selector: { names: ['gw-3'] } },
      { ...test, approval: 'Manual' },
      { name: 'plant', maxConcurrent: '50%' },
    ],
    windows: [{ days: ['Mon', 'Tue'], from: '08:00', to: '18:00', timeZone: 'Europe/Vienna' }],
  },
  { stages: [{ name: 'all' }], onFailure: 'Rollback', progressDeadline: '30m' },
]

type Operation = { name: string; run(fleet: StagedFleet): unknown; [fc.toStringMethod](): string }

const pod = fc.constantFrom(...names)
const operation = (name: string, run: (fleet: StagedFleet) => unknown): Operation => ({ name, run, [fc.toStringMethod]: () => name })

const operations = fc.oneof(
  { weight: 6, arbitrary: fc.constant(operation('pass', passed)) },
  { weight: 8, arbitrary: pod.map((name) => operation(`look ${name}`, (fleet) => looked(fleet, name))) },
  { weight: 3, arbitrary: fc.constant(operation('settle', settled)) },
  { weight: 2, arbitrary: fc.constant(operation('push', pushed)) },
  { weight: 1, arbitrary: fc.constant(operation('bad', (fleet) => fleet.bad.add(fleet.head))) },
  { weight: 1, arbitrary: fc.constant(operation('good', (fleet) => fleet.bad.clear())) },
  { weight: 1, arbitrary: pod.map((name) => operation(`edit ${name}`, (fleet) => fleet.edited.add(name))) },
  { weight: 1, arbitrary: fc.tuple(pod, fc.constantFrom('wrong' as const, 'none' as const)).map(([name, kind]) => answering(name, kind)) },
  { weight: 1, arbitrary: fc.constant(operation('answer rightly', (fleet) => fleet.answers.clear())) },
  { weight: 1, arbitrary: fc.constant(operation('capture', (fleet) => fleet.edited.clear())) },
  { weight: 2, arbitrary: fc.constantFrom(1, 6, 31, 600).map((minutes) => operation(`wait ${minutes}m`, (f) => f.wait(minutes * 60_000))) },
  { weight: 1, arbitrary: fc.boolean().map((paused) => operation(`pause ${paused}`, (fleet) => (fleet.spec = { ...fleet.spec, paused }))) },
  { weight: 1, arbitrary: fc.constantFrom('abort' as const, 'resume' as const).map((verb) => operation(verb, (fleet) => fleet.act(verb))) },
  { weight: 1, arbitrary: fc.constantFrom('one', 'test', 'plant').map((s) => operation(`approve ${s}`, (f) => f.act('approve', s))) },
  { weight: 1, arbitrary: pod.map((name) => operation(`gone ${name}`, (fleet) => fleet.pods.delete(name))) },
  { weight: 1, arbitrary: pod.map((name) => operation(`anew ${name}`, (fleet) => fleet.add(name, lineOf(name)))) },
  { weight: 1, arbitrary: pod.map((name) => operation(`bare ${name}`, (fleet) => fleet.bare.add(name))) },
  { weight: 1, arbitrary: fc.constant(operation('agents for all', (fleet) => fleet.bare.clear())) },
  { weight: 1, arbitrary: fc.nat(rollouts.length - 1).map((n) => operation(`stages ${n}`, (fleet) => fleet.change(rollouts[n]))) },
  { weight: 1, arbitrary: fc.nat(2).map((n) => operation(`configure ${n}`, (fleet) => configure(fleet, n))) },
  { weight: 1, arbitrary: fc.constant(operation('skip', skipStages)) },
)

function answering(name: string, kind: 'wrong' | 'none'): Operation {
  return operation(`${name} answers ${kind}`, (fleet) => fleet.answers.set(name, { kind, why: 'as the test says' }))
}

/** Reconciles and checks that no gateway that must wait may start. */
function passed(fleet: StagedFleet): void {
  const before = fleet.status
  fleet.pass()
  const { rollout } = fleet.status
  if (rollout === undefined) return
  const again = fleet.status
  fleet.pass()
  if (!isDeepStrictEqual(fleet.status, again)) fail('a second pass over the same facts decides otherwise')
  const isNew = before.rollout?.id !== rollout.id
  const known = new Set(isNew ? [] : before.rollout?.allowed)
  const stages = fleet.spec.rollout?.stages ?? []
  const members = membersOf(
    stages,
    [...fleet.pods].map(([name, { labels }]) => ({ pod: name, name, labels })),
  )
  for (const [index, stage] of stages.entries()) {
    const of = members[index] ?? []
    const isSettled = (name: string) => {
      const { inPlace } = fleet.pods.get(name) ?? {}
      return inPlace?.commit === rollout.commit && rollout.configurations['default'] === inPlace.syncHash.slice(0, -48)
    }
    const begun = of.filter(({ pod }) => rollout.allowed?.includes(podHash(pod)) === true && !isSettled(pod))
    if (!begun.some(({ pod }) => !known.has(podHash(pod)))) continue
    const failed = begun.filter(({ pod }) => fleet.pods.get(pod)?.report.reason === 'TemplateFailed').length
    const most = amountOf(stage.maxConcurrent, of.length, Math.floor)
    if (begun.length - failed > most) fail(`${begun.length} of stage ${stage.name} are under way, ${most} may be`)
    if (!isOpen(fleet.spec.rollout?.windows, fleet.now)) fail('somebody begins although no window is open')
    if (fleet.spec.paused) fail('somebody begins during a pause')
    if (rollout.state !== 'Progressing') fail(`somebody begins in a rollout that is ${rollout.state}`)
    const earlier = rollout.stages?.slice(0, index).filter(({ finishedAt }) => finishedAt === undefined) ?? []
    if (earlier.length > 0) fail(`stage ${stage.name} begins before stage ${earlier[0]?.name} is done`)
  }
}

/** Runs an agent cycle and checks that it applies nothing but the desired commit of this gateway. */
function looked(fleet: StagedFleet, name: string): void {
  const held = fleet.pods.get(name)?.inPlace
  const { published, rollout } = fleet.status
  if (!fleet.look(name)) return
  const now = fleet.pods.get(name)?.inPlace?.commit
  const isFirst = held === undefined
  const desired = isFirst ? [published?.commit, rollout?.previous?.commit] : [published?.commit]
  if (!desired.includes(now)) fail(`${name} takes ${now}, which is not desired`)
  if (rollout?.state === 'RolledBack' && now === rollout.refused?.commit) fail(`${name} takes the commit that was rolled back`)
  const isHeldBack = rollout?.state === 'Progressing' || rollout?.state === 'Stopped'
  if (!isFirst && isHeldBack && rollout.allowed?.includes(podHash(name)) !== true) fail(`${name} moves before its turn`)
}

function settled(fleet: StagedFleet): void {
  for (let round = 0; round < 12; round += 1) {
    passed(fleet)
    for (const name of fleet.pods.keys()) looked(fleet, name)
  }
}

function pushed(fleet: StagedFleet): void {
  fleet.head = commitOf(Number.parseInt(fleet.head, 16) + 1)
}

function configure(fleet: StagedFleet, n: number): void {
  const { sync } = fleet.spec
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, vars: { db: `db-${n}` } } } }
}

function skipStages(fleet: StagedFleet): void {
  fleet.annotations = { ...fleet.annotations, [skipStagesAnnotation]: fleet.head }
}

function fail(message: string): never {
  throw new Error(message)
}

void t.test('no gateway starts before its turn, and all converge once nothing is wrong', (t) => {
  const run = fc.property(fc.nat(rollouts.length - 1), fc.array(operations, { maxLength: 40 }), fc.boolean(), (first, steps, isChecked) => {
    const fleet = stagedFleet(rollouts[first], Object.fromEntries(names.map((name) => [name, lineOf(name)])))
    const { sync } = fleet.spec
    if (isChecked)
      fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, healthCheck: { http: { path: '/', status: 200 } } } } }
    fleet.settle()
    for (const { run } of steps) run(fleet)
    fleet.bad.clear()
    fleet.edited.clear()
    fleet.answers.clear()
    fleet.bare.clear()
    fleet.spec = { ...fleet.spec, paused: false }
    for (let day = 0; day < 40; day += 1) {
      settled(fleet)
      const { state, waitsFor, stage } = fleet.status.rollout ?? fail('there is no rollout')
      if (state === 'Done' && Object.values(fleet.commits()).every((commit) => commit === fleet.head)) return
      if (waitsFor === 'Approval') fleet.act('approve', stage)
      else if (state !== 'Progressing') fleet.act('resume')
      fleet.wait(6 * 3_600_000)
    }
    fail(`it is not done: ${JSON.stringify(fleet.status.rollout)}`)
  })
  fc.assert(run, { numRuns: 60 })
  t.end()
})
