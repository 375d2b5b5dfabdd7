import fc from 'fast-check'
import t from 'tap'
import { reasons } from '../../../runtime/fault.ts'
import {
  abnormalConditions,
  type ConditionInput,
  conditionReasons,
  meaningOf,
  needsSomebody,
  nextConditions,
  normalConditions,
} from '../../../runtime/gatewaysync/decide/conditions.ts'

const [first, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const ready = (changes: Partial<ConditionInput> = {}): ConditionInput => ({
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'all well',
  ...changes,
})

void t.test('the transition time moves with the status, not with reason, message or generation', async (t) => {
  const before = nextConditions([], [ready()], 1, first)
  t.same(before, [{ ...ready(), observedGeneration: 1, lastTransitionTime: first }])
  t.match(nextConditions(before, [ready({ reason: 'NoGateways', message: 'none yet' })], 2, later), [
    { reason: 'NoGateways', message: 'none yet', observedGeneration: 2, lastTransitionTime: first },
  ])
  t.match(nextConditions(before, [ready({ status: 'False' })], 2, later), [{ status: 'False', lastTransitionTime: later }])
})

void t.test('a condition that is not found any more goes', async (t) => {
  const before = nextConditions([], [ready(), ready({ type: 'Stalled' })], 1, first)
  t.same(
    nextConditions(before, [ready()], 1, later).map(({ type }) => type),
    ['Ready'],
  )
})

void t.test('whatever follows whatever: a status that stays keeps its time, one that turns gets the time of now', async () => {
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

void t.test('a message is cut to what the API server takes', async (t) => {
  t.equal(nextConditions([], [ready({ message: 'm'.repeat(10_000) })], 1, first)[0]?.message.length, 4096)
})

void t.test('somebody is needed for faults and for gateways in trouble, not for what is under way or was chosen', async (t) => {
  const rows: [ConditionInput['status'], ConditionInput['reason'], boolean][] = [
    ['False', 'GitUnauthorised', true],
    ['False', 'GatewaysFailed', true],
    ['False', 'MissingAgent', true],
    ['False', 'GatewaysPending', false],
    ['False', 'Paused', false],
    ['Unknown', 'Pending', false],
    ['True', 'Synced', false],
    ['True', 'DiskFull', false],
  ]
  for (const [status, reason, expected] of rows) t.equal(needsSomebody({ status, reason }), expected, `${status} ${reason}`)
})

void t.test('every reason of a condition has one meaning, and a word of somebody else has none', async (t) => {
  const words = [...Object.keys(conditionReasons), ...Object.keys(reasons)]
  for (const word of words) t.match(meaningOf(word), /\w+ \w+/, word)
  t.same(
    Object.keys(conditionReasons).filter((word) => Object.hasOwn(reasons, word)),
    [],
    'no word stands in both tables',
  )
  for (const word of ['', 'toString', 'SomethingElse']) t.equal(meaningOf(word), undefined, word)
})
