/**
 * Formats where a finding is, as editors and terminals open it: `path`, `path:line` or `path:line:column`. Pure.
 */
type Placed = { path: string; line?: number | undefined; column?: number | undefined }

export function shownPlace({ path, line, column }: Placed): string {
  return [path, ...(line === undefined ? [] : [line, ...(column === undefined ? [] : [column])])].join(':')
}
