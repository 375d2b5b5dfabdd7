/**
 * The notes of a release: the section of its version in CHANGELOG.md. Pure.
 */

/** The text below the heading of the version, with or without a date after it. Throws if there is none. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const [, ...lines] = (sections.find((section) => section.split(/\s/, 1)[0] === version) ?? '').split('\n')
  const notes = lines.join('\n').trim()
  if (notes === '') throw new Error(`CHANGELOG.md has nothing under "## ${version}"; rename "## Unreleased" and begin a new one above it`)
  return `${notes}\n`
}
