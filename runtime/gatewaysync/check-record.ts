/**
 * What is known of a check that is asked again and again: one wrong answer is no failure, and an old answer is no knowledge. Pure.
 */

/** `none`: nobody answered, so nothing is known. `why`: what came instead of the right answer. */
export type CheckAnswer = { kind: 'right' } | { kind: 'wrong' | 'none'; why: string }

/** How a check stands. */
export const checkStates = ['Passed', 'Failed', 'Unknown'] as const

/** What the answers up to now come to. Times are milliseconds since 1970, by the clock of who asks. */
export type CheckRecord = {
  state: (typeof checkStates)[number]
  /** Since when it stands so. */
  sinceMs: number
  /** Why it has not passed. */
  why?: string
  /** When there was an answer last, right or wrong. */
  answeredMs?: number
  /** Since when every answer was wrong. */
  wrongSinceMs?: number
}

/** What was answered about one commit and configuration; `about` tells them, and the question, from others. */
export type RememberedCheck = { about: string; record: CheckRecord }

/** So long every answer must be wrong: pages and figures come a while after a scan, and one error is no outage. */
const wrongForMs = 30_000
/** So long an answer counts when no other one follows: two usual sync periods. */
const answerCountsMs = 60_000

/** How a check stands now: what nobody has answered for a minute is not known. */
export function standingOf({ state, why, answeredMs }: CheckRecord, nowMs: number): Pick<CheckRecord, 'state' | 'why'> {
  if (state === 'Unknown' || (answeredMs !== undefined && nowMs - answeredMs <= answerCountsMs))
    return { state, ...(why === undefined ? {} : { why }) }
  return { state: 'Unknown', why: 'there was no answer for a minute' }
}

/** The record after one more answer. */
export function afterAnswer(before: CheckRecord | undefined, answer: CheckAnswer, nowMs: number): CheckRecord {
  const is = (state: CheckRecord['state'], rest: Omit<CheckRecord, 'state' | 'sinceMs'>): CheckRecord => {
    return { state, sinceMs: before?.state === state ? before.sinceMs : nowMs, ...rest }
  }
  if (answer.kind === 'right') return is('Passed', { answeredMs: nowMs })
  const { why } = answer
  const isFresh = before?.answeredMs !== undefined && nowMs - before.answeredMs <= answerCountsMs
  if (answer.kind === 'none') return isFresh ? before : is('Unknown', { why })
  const wrongSinceMs = (isFresh ? before.wrongSinceMs : undefined) ?? nowMs
  const rest = { why, answeredMs: nowMs, wrongSinceMs }
  if (nowMs - wrongSinceMs >= wrongForMs) return is('Failed', rest)
  return before !== undefined && isFresh && before.state !== 'Unknown' ? is(before.state, rest) : is('Unknown', rest)
}
