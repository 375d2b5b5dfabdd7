/**
 * Tests rollouts with a Prometheus check per gateway, on an in-memory fleet.
 */
import t from 'tap'
import { filledQuery } from '../../../../runtime/reconcile/rollout/check-question.ts'
import { matchObject } from '../../../support/assertions.ts'
import { commitOf, lines, stagedFleet, type StagedFleet, stages } from '../../../support/staged-fleet.ts'

const prometheus = { query: 'line_ok{gateway="{{ gateway.name }}"}', url: 'https://prometheus.example' }
const wrong = { kind: 'wrong', why: 'the query has no result' } as const
const none = { kind: 'none', why: 'Prometheus answered 503' } as const
const watched = [{ ...stages[0], name: 'test', soak: '10h' }, { name: 'plant' }]

/** Four gateways with such a check. All run the first commit, and the second is pushed. */
function pushed(rollout: Parameters<typeof stagedFleet>[0], http?: { path: string; status: number }): StagedFleet {
  const fleet = stagedFleet(rollout, lines)
  const { sync } = fleet.spec
  const check = { prometheus, ...(http === undefined ? {} : { http }) }
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, healthCheck: check } } }
  fleet.settle()
  fleet.head = commitOf(2)
  return fleet
}

void t.test('a stage completes once its Prometheus checks pass, and only gateways under way are queried', async (t) => {
  const fleet = pushed({ stages })
  t.strictSame(fleet.pass().questions, [], 'nobody has the commit yet')
  fleet.look('gw-test')
  const { questions } = fleet.pass()
  const asked = questions.map(({ pod, url, ...question }) => ({ pod, url, query: filledQuery(question) }))
  t.strictSame(asked, [{ pod: 'gw-test', url: prometheus.url, query: 'line_ok{gateway="gw-test"}' }])
  matchObject(t, fleet.rollout(), { stage: 'test', waitsFor: 'Gateways', stages: [{ updated: 0 }, {}] }, 'not yet reconciled')
  fleet.pass()
  matchObject(t, fleet.rollout(), { stage: 'plant' })
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
  t.strictSame(fleet.pass().questions, [])
})

void t.test('failed queries for half a minute fail the gateway with the reason, and later stages keep their commit', async (t) => {
  const fleet = pushed({ stages, onFailure: 'Rollback' })
  fleet.figures.set('gw-test', wrong)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test' })
  fleet.wait(30_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'RolledBack', message: /gw-test: HealthCheckFailed \(the query has no result\)/ })
  for (const name of ['gw-a', 'gw-b', 'gw-c']) t.strictSame(fleet.pods.get(name)?.had, [commitOf(1)], name)
})

void t.test('an unanswered query makes the stage wait, and the reason is reported after the deadline', async (t) => {
  const fleet = pushed({ stages, progressDeadline: '30m' })
  fleet.figures.set('gw-test', none)
  fleet.settle()
  fleet.wait(1_799_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', failures: undefined })
  fleet.wait(1_000)
  fleet.settle()
  matchObject(t, fleet.rollout(), {
    state: 'Stopped',
    message: /HealthCheckUnanswered \(Prometheus answered 503\)/,
    failures: [{ pod: 'gw-test', reason: 'HealthCheckUnanswered' }],
  })
})

void t.test('a query result is valid for a minute, and a new leader discards earlier results', async (t) => {
  for (const forget of [(fleet: StagedFleet) => fleet.wait(61_000), (fleet: StagedFleet) => fleet.known.clear()]) {
    const fleet = pushed({ stages: watched })
    fleet.settle()
    matchObject(t, fleet.rollout(), { waitsFor: 'Soak' })
    fleet.figures.set('gw-test', none)
    forget(fleet)
    fleet.pass()
    matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Gateways', healthySince: undefined, failures: undefined })
    fleet.figures.clear()
    fleet.settle()
    matchObject(t, fleet.rollout(), { waitsFor: 'Soak', healthySince: /./ })
    t.equal(fleet.commits()['gw-a'], commitOf(1))
  }
})

void t.test('a gateway is queried only after its own check has passed', async (t) => {
  const fleet = pushed({ stages }, { path: '/ok', status: 200 })
  fleet.answers.set('gw-test', none)
  fleet.settle()
  t.strictSame(fleet.pass().questions, [])
  fleet.answers.clear()
  fleet.figures.set('gw-test', none)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', stage: 'test' }, 'both must be right')
  fleet.figures.clear()
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Done' })
})
