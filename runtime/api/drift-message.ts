/**
 * Describes local changes in one sentence, for messages of reports, remarks and the command line. Pure.
 */

/** Names the first `maxNamed` of the changed files, and counts the others. */
export function driftMessage({ count, paths }: { count: number; paths: readonly string[] }, maxNamed = 3): string {
  const named = paths.slice(0, maxNamed)
  const more = count > named.length ? ` and ${count - named.length} more` : ''
  return `${count} managed ${count === 1 ? 'file was' : 'files were'} changed or deleted locally: ${named.join(', ')}${more}`
}
