import fc from 'fast-check'
import t from 'tap'
import { afterAnswer, type CheckAnswer, type CheckRecord } from '../../../runtime/api/check-record.ts'

const right = { kind: 'right' } as const
const wrong = { kind: 'wrong', why: '500' } as const
const none = { kind: 'none', why: 'silent' } as const

/** The states after answers at the given seconds. */
function statesAfter(...answers: [number, CheckAnswer][]): string[] {
  let record: CheckRecord | undefined
  return answers.map(([seconds, answer]) => {
    record = afterAnswer(record, answer, seconds * 1000)
    return record.state
  })
}

void t.test('one success passes the check; failures fail it after 30 seconds without a success', async (t) => {
  t.strictSame(statesAfter([0, right], [10, wrong], [39, wrong], [40, wrong]), ['Passed', 'Passed', 'Passed', 'Failed'])
  t.strictSame(statesAfter([0, wrong], [29, wrong], [30, wrong], [31, right]), ['Unknown', 'Unknown', 'Failed', 'Passed'])
  t.strictSame(statesAfter([0, wrong], [29, right], [30, wrong], [59, wrong]), ['Unknown', 'Passed', 'Passed', 'Passed'])
})

void t.test('an answer counts for one minute; after that the state is unknown', async (t) => {
  t.strictSame(statesAfter([0, none], [1, right], [61, none], [62, none]), ['Unknown', 'Passed', 'Passed', 'Unknown'])
  t.strictSame(statesAfter([0, wrong], [30, wrong], [95, none], [96, wrong], [97, wrong]), [
    'Unknown',
    'Failed',
    'Unknown',
    'Unknown',
    'Unknown',
  ])
  t.strictSame(statesAfter([0, right], [100, wrong]), ['Passed', 'Unknown'], 'an old answer does not carry a new one')
})

const answers = fc.array(fc.tuple(fc.nat(90), fc.constantFrom<CheckAnswer>(right, wrong, none)), { maxLength: 40 })

void t.test('a check never passes without a success and never fails while a success is its newest answer', (t) => {
  const property = fc.property(answers, (steps) => {
    let at = 0
    let record: CheckRecord | undefined
    let lastRight = Number.NEGATIVE_INFINITY
    let lastWrong = Number.NEGATIVE_INFINITY
    for (const [seconds, answer] of steps) {
      at += seconds * 1000
      const before = record
      record = afterAnswer(record, answer, at)
      if (answer.kind === 'right') lastRight = at
      if (answer.kind === 'wrong') lastWrong = at
      if (answer.kind === 'right' && record.state !== 'Passed') return false
      if (record.state === 'Failed' && (lastWrong <= lastRight || at - lastWrong > 60_000)) return false
      if (record.state === 'Passed' && !Number.isFinite(lastRight)) return false
      if (record.state !== 'Passed' && record.why === undefined) return false
      if (before !== undefined && before.state === record.state && before.sinceMs !== record.sinceMs) return false
    }
    return true
  })
  fc.assert(property)
  t.end()
})
