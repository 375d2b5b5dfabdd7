/**
 * Determines which findings of a commit are new compared with its parent: a finding that only moved to another line is not new. Pure.
 */

type Finding = { rule: string; path: string; message: string }

/** The same text for the same finding: rule, file and message, but not the line. */
export function findingKey({ rule, path, message }: Finding): string {
  return JSON.stringify([rule, path, message])
}

/** Returns the findings of `now` that are not in `before`, in order. */
export function newFindings<Each extends Finding>(before: readonly Finding[], now: readonly Each[]): Each[] {
  const known = new Set(before.map(findingKey))
  return now.filter((finding) => !known.has(findingKey(finding)))
}
