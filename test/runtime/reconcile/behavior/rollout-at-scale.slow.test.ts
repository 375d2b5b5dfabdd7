/**
 * Tests 1,000 gateways in five stages while commits arrive faster than a stage can apply them. The concurrency limit holds, later stages
 * skip superseded commits, the status stays small, and all gateways converge.
 */
import t from 'tap'
import { membersOf } from '../../../../runtime/reconcile/rollout/stages.ts'
import { podHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'
import { matchObject } from '../../../support/assertions.ts'
import { commitOf, stagedFleet } from '../../../support/staged-fleet.ts'

const lines = ['1', '2', '3', '4', '5']
const perLine = 200
const atOnce = 50
const pushes = 5
/** A stage needs at least four rounds. */
const roundsBetween = 3
const maxStatusBytes = 64 * 1024

const stages = lines.map((line, index) => ({
  name: `line-${line}`,
  maxConcurrent: '25%',
  ...(index === lines.length - 1 ? {} : { selector: { matchLabels: { line } } }),
}))
const pods = Object.fromEntries(
  lines.flatMap((line) =>
    Array.from({ length: perLine }, (_, n): [string, { line: string }] => [`gateway-of-line-${line}-${n}`, { line }]),
  ),
)

void t.test(
  'a fleet of 1,000 gateways converges under constant pushes and within its concurrency limit',
  { timeout: 600_000 },
  async (t) => {
    const fleet = stagedFleet({ stages }, pods)
    fleet.settle()
    const members = membersOf(
      fleet.spec.rollout?.stages ?? [],
      Object.entries(pods).map(([name, labels]) => ({ pod: name, name, labels })),
    )
    let mostUnderWay = 0
    let mostBytes = 0
    const round = (): void => {
      fleet.pass()
      const rollout = fleet.rollout()
      const allowed = new Set(rollout?.allowed)
      for (const of of members) {
        const underWay = of.filter(
          ({ pod }) => allowed.has(podHash(pod)) && fleet.pods.get(pod)?.inPlace?.commit !== rollout?.commit,
        ).length
        mostUnderWay = Math.max(mostUnderWay, underWay)
      }
      mostBytes = Math.max(mostBytes, JSON.stringify(fleet.status).length)
      for (const name of fleet.pods.keys()) fleet.look(name)
    }
    for (let n = 2; n < 2 + pushes; n += 1) {
      fleet.head = commitOf(n)
      for (let count = 0; count < roundsBetween; count += 1) round()
    }
    const last = commitOf(1 + pushes)
    for (let count = 0; count < 60 && fleet.rollout()?.state !== 'Done'; count += 1) round()

    matchObject(t, fleet.rollout(), { state: 'Done', commit: last })
    t.strictSame(new Set(Object.values(fleet.commits())), new Set([last]))
    t.equal(mostUnderWay, atOnce, 'as many at once as the stages permit')
    const later = [...fleet.pods].filter(([, { labels }]) => labels['line'] !== '1')
    t.strictSame(
      new Set(later.map(([, { had }]) => had.join())),
      new Set([[commitOf(1), last].join()]),
      'later stages saw the first and the last',
    )
    t.ok(mostBytes < maxStatusBytes, `${mostBytes} bytes`)
  },
)

void t.test('the status of 1,000 gateways fits into 64 KiB, even if each of them fails its check', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`gateway-of-a-line-with-a-long-name-${n}`, {}]))
  const fleet = stagedFleet(
    {
      stages: [
        { name: 'first', selector: { names: ['*-9'] } },
        { name: 'plant', soak: '1h' },
      ],
      failureThreshold: '100%',
    },
    many,
  )
  const { sync } = fleet.spec
  const check = { http: { path: '/system/webdev/line/health', status: 200 } }
  fleet.spec = { ...fleet.spec, sync: { ...sync, defaults: { ...sync.defaults, healthCheck: check } } }
  fleet.settle()
  fleet.head = commitOf(2)
  fleet.settle()
  matchObject(t, fleet.rollout(), { state: 'Progressing', waitsFor: 'Soak' })
  t.equal(fleet.rollout()?.allowed?.length, 1_000)
  t.ok(JSON.stringify(fleet.rollout()).length < 16 * 1024, `${JSON.stringify(fleet.rollout()).length} bytes of the rollout`)
  for (const name of fleet.pods.keys()) fleet.answers.set(name, { kind: 'wrong', why: 'x'.repeat(1_000) })
  for (let times = 0; times < 3; times += 1) {
    fleet.settle()
    fleet.wait(30_000)
  }
  matchObject(t, fleet.rollout(), { state: 'Stopped', reason: 'RolloutFailed' })
  t.equal(fleet.rollout()?.failures?.length, 10)
  t.ok(JSON.stringify(fleet.status).length < maxStatusBytes, `${JSON.stringify(fleet.status).length} bytes of the status`)
})
