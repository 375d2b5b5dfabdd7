/**
 * Builds the RFC 6902 operations that injection needs. Written by hand instead of by comparison, so that a patch changes only the agent's
 * fields. Pure.
 */
export type JsonPatch = { op: 'add'; path: string; value: unknown }

/** Appends entries to a list, which is created if missing. */
export function addToList(path: string, present: readonly unknown[] | undefined | null, entries: readonly unknown[]): JsonPatch[] {
  if (entries.length === 0) return []
  if (present === undefined || present === null) return [{ op: 'add', path, value: entries }]
  return entries.map((value) => ({ op: 'add', path: `${path}/-`, value }))
}

/** Sets members of a map, which is created if missing. */
export function addToMap(path: string, present: object | undefined | null, members: Readonly<Record<string, unknown>>): JsonPatch[] {
  const entries = Object.entries(members)
  if (entries.length === 0) return []
  if (present === undefined || present === null) return [{ op: 'add', path, value: members }]
  return entries.map(([key, value]) => ({ op: 'add', path: `${path}/${escapeSegment(key)}`, value }))
}

/** RFC 6901, section 3. */
function escapeSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
