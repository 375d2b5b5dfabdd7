/**
 * Compares findings of a commit with those of its parent, and formats where one is. Pure.
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

type Placed = { path: string; line?: number | undefined; column?: number | undefined }

export function shownPlace({ path, line, column }: Placed): string {
  return [path, ...(line === undefined ? [] : [line, ...(column === undefined ? [] : [column])])].join(':')
}
