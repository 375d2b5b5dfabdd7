/**
 * Finds the new problems of a gateway, given the earlier ones. Pure.
 */

/**
 * Returns the problems of `after` that are not in `before`. Numbers are ignored, because messages contain times and durations; a message
 * that occurs more often than before is new that many times.
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
