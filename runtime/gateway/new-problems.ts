/**
 * Which problems of a gateway are new, given those that it had before. Pure.
 */

/**
 * The problems of `after` that `before` does not hold. Numbers count for nothing, because messages tell times and durations; a message that
 * stands there more often than before is new as often.
 */
export function newProblems(before: readonly string[], after: readonly string[]): string[] {
  const known = new Map<string, number>()
  for (const problem of before) known.set(kindOf(problem), (known.get(kindOf(problem)) ?? 0) + 1)
  return after.filter((problem) => {
    const left = known.get(kindOf(problem)) ?? 0
    known.set(kindOf(problem), left - 1)
    return left <= 0
  })
}

function kindOf(problem: string): string {
  return problem.replaceAll(/\d+/g, '0')
}
