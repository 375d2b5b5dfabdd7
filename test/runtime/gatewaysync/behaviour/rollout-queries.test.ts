/**
 * Rollouts that wait for what Prometheus tells of each gateway, on a fleet in memory.
 */
import t from 'tap'
import { commitOf, lines, stagedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

const prometheus = { query: 'line_ok{gateway="{{ gateway.name }}"}', url: 'https://prometheus.example' }
const wrong = { kind: 'wrong', why: 'the query has no result' } as const
const none = { kind: 'none', why: 'Prometheus answered 503' } as const
const watched = [{ ...stages[0], name: 'test', soak: '10h' }, { name: 'plant' }]

/** Four gateways with such a check, the first commit everywhere, and the second pushed. */
function pushed(rollout: Parameters<typeof stagedFleet>[0], http?: { path: string; status: number }): StagedFleet {
  const fleet = stagedFleet(rollout, lines)
  const { sync } = fleet.spec
  const check = { prometheus, ...(http === undefined ? {} : { http }) }
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, check } } }
  fleet.settle()
  fleet.head = commitOf(2)
  return fleet
}

void t.test('a stage goes on once Prometheus says that its gateways are well, and nobody is asked before and after', async (t) => {
  const fleet = pushed({ stages })
  t.same(fleet.pass().questions, [], 'nobody has the commit yet')
  fleet.look('gw-test')
  const { questions } = fleet.pass()
  t.match(questions, [{ pod: 'gw-test', query: 'line_ok{gateway="gw-test"}', url: prometheus.url }])
  t.equal(questions.length, 1)
  t.match(fleet.rollout(), { stage: 'test', waitsFor: 'Gateways', stages: [{ updated: 0 }] }, 'nothing is known yet')
  fleet.pass()
  t.match(fleet.rollout(), { stage: 'plant' })
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
  t.same(fleet.pass().questions, [])
})

void t.test('wrong answers of half a minute fail the gateway and say why; the others never have the commit', async (t) => {
  const fleet = pushed({ stages, onFailure: 'Rollback' })
  fleet.figures.set('gw-test', wrong)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test' })
  fleet.wait(30_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'RolledBack', message: /gw-test: HealthCheckFailed \(the query has no result\)/ })
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.same(fleet.pods.get(name)?.had, [commitOf(1)], name)
})

void t.test('where nobody answers the stage waits, and says after the deadline why', async (t) => {
  const fleet = pushed({ stages, progressDeadline: '30m' })
  fleet.figures.set('gw-test', none)
  fleet.settle()
  fleet.wait(1_799_000)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', failures: undefined })
  fleet.wait(1_000)
  fleet.settle()
  t.match(fleet.rollout(), {
    state: 'Stopped',
    message: /HealthCheckUnanswered \(Prometheus answered 503\)/,
    failures: [{ pod: 'gw-test', reason: 'HealthCheckUnanswered' }],
  })
})

void t.test('an answer counts for a minute, and a controller that begins to lead believes none of the one before', async (t) => {
  for (const forget of [(fleet: StagedFleet) => fleet.wait(61_000), (fleet: StagedFleet) => fleet.known.clear()]) {
    const fleet = pushed({ stages: watched })
    fleet.settle()
    t.match(fleet.rollout(), { waitsFor: 'Soak' })
    fleet.figures.set('gw-test', none)
    forget(fleet)
    fleet.pass()
    t.match(fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', healthySince: undefined, failures: undefined })
    fleet.figures.clear()
    fleet.settle()
    t.match(fleet.rollout(), { waitsFor: 'Soak', healthySince: String })
    t.equal(fleet.commits()['gw-a'], commitOf(1))
  }
})

void t.test('a gateway that has not passed the check of its own is not asked about', async (t) => {
  const fleet = pushed({ stages }, { path: '/ok', status: 200 })
  fleet.answers.set('gw-test', none)
  fleet.settle()
  t.same(fleet.pass().questions, [])
  fleet.answers.clear()
  fleet.figures.set('gw-test', none)
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Progressing', stage: 'test' }, 'both must be right')
  fleet.figures.clear()
  fleet.settle()
  t.match(fleet.rollout(), { state: 'Done' })
})
