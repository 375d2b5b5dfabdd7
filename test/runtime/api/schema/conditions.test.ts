import fc from 'fast-check'
import t from 'tap'
import { reasons } from '../../../../runtime/platform/fault.ts'
import {
  abnormalConditions,
  type ConditionInput,
  conditionReasons,
  meaningOf,
  needsAttention,
  nextConditions,
  normalConditions,
} from '../../../../runtime/api/schema/conditions.ts'
import { matchObject } from '../../../support/assertions.ts'

const [first, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const ready = (changes: Partial<ConditionInput> = {}): ConditionInput => ({
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'all well',
  ...changes,
})

void t.test('the transition time changes with the status, not with reason, message or generation', async (t) => {
  const before = nextConditions([], [ready()], 1, first)
  t.strictSame(before, [{ ...ready(), observedGeneration: 1, lastTransitionTime: first }])
  matchObject(t, nextConditions(before, [ready({ reason: 'NoGateways', message: 'none yet' })], 2, later), [
    { reason: 'NoGateways', message: 'none yet', observedGeneration: 2, lastTransitionTime: first },
  ])
  matchObject(t, nextConditions(before, [ready({ status: 'False' })], 2, later), [{ status: 'False', lastTransitionTime: later }])
})

void t.test('a condition that is no longer set is removed', async (t) => {
  const before = nextConditions([], [ready(), ready({ type: 'Stalled' })], 1, first)
  t.strictSame(
    nextConditions(before, [ready()], 1, later).map(({ type }) => type),
    ['Ready'],
  )
})

void t.test('for any two sets of conditions an unchanged status keeps its time and a changed one gets the new time', async () => {
  const type = fc.constantFrom(...normalConditions, ...abnormalConditions)
  const status = fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const)
  const input = fc.record({ type, status, reason: fc.constantFrom('Synced' as const, 'DiskFull' as const), message: fc.string() })
  const set = fc.uniqueArray(input, { selector: (condition) => condition.type })
  fc.assert(
    fc.property(set, set, (earlier, next) => {
      const before = nextConditions([], earlier, 1, first)
      const after = nextConditions(before, next, 2, later)
      return (
        after.length === next.length &&
        after.every((condition, index) => {
          const was = before.find((one) => one.type === condition.type)
          const time = was?.status === condition.status ? first : later
          return condition.type === next[index]?.type && condition.lastTransitionTime === time && condition.observedGeneration === 2
        })
      )
    }),
  )
})

void t.test("a message is truncated to the API server's limit", async (t) => {
  t.equal(nextConditions([], [ready({ message: 'm'.repeat(10_000) })], 1, first)[0]?.message.length, 4096)
})

void t.test('faults and failed gateways need attention; pending or paused states do not', async (t) => {
  const rows: [ConditionInput['status'], ConditionInput['reason'], boolean][] = [
    ['False', 'GitUnauthorized', true],
    ['False', 'GatewaysFailed', true],
    ['False', 'MissingAgent', true],
    ['False', 'GatewaysPending', false],
    ['False', 'Paused', false],
    ['Unknown', 'Pending', false],
    ['True', 'Synced', false],
    ['True', 'DiskFull', false],
  ]
  for (const [status, reason, expected] of rows) t.equal(needsAttention({ status, reason }), expected, `${status} ${reason}`)
})

void t.test('every reason of a condition has one meaning, and an unknown reason has none', async (t) => {
  const words = [...Object.keys(conditionReasons), ...Object.keys(reasons)]
  for (const word of words) t.match(meaningOf(word), /\w+ \w+/, word)
  t.strictSame(
    Object.keys(conditionReasons).filter((word) => Object.hasOwn(reasons, word)),
    [],
    'no word stands in both tables',
  )
  for (const word of ['', 'toString', 'SomethingElse']) t.equal(meaningOf(word), undefined, word)
})
