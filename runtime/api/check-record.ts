/**
 * Combines repeated health check results: one failure is tolerated, and old results expire. Pure.
 */

/** `none`: no answer, so the state is unknown. `why`: what came instead of the right answer. */
export type CheckAnswer = { kind: 'right' } | { kind: 'wrong' | 'none'; why: string }

/** The state of a check. */
export const checkStates = ['Passed', 'Failed', 'Unknown'] as const

/** The combined results so far. Times are milliseconds since 1970, by the clock of the checker. */
export type CheckRecord = {
  state: (typeof checkStates)[number]
  /** Start of this state. */
  sinceMs: number
  /** Why it has not passed. */
  why?: string
  /** Time of the last answer, right or wrong. */
  answeredMs?: number
  /** Since when every answer was wrong. */
  wrongSinceMs?: number
}

/** The check of one commit and configuration; `about` identifies them and the question. */
export type StoredCheck = { about: string; record: CheckRecord }

/** How long every answer must be wrong before a failure: pages and metrics come up a while after a scan, and one error is not an outage. */
const wrongForMs = 30_000
/** How long an answer is valid without another one: two default sync intervals. */
const answerCountsMs = 60_000

/** Returns the state of a check now: unknown without an answer for a minute. */
export function stateAt({ state, why, answeredMs }: CheckRecord, nowMs: number): Pick<CheckRecord, 'state' | 'why'> {
  if (state === 'Unknown' || (answeredMs !== undefined && nowMs - answeredMs <= answerCountsMs))
    return { state, ...(why === undefined ? {} : { why }) }
  return { state: 'Unknown', why: 'there was no answer for a minute' }
}

/** Returns the record after one more answer. */
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
