/**
 * `npm run release:notes <tag> <file>`: writes the section of CHANGELOG.md for the version of a tag such as v1.2.3. Fails if that is not
 * the version of package.json, or if the changelog has no such section.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const [tag = '', file = ''] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const notes = sectionOf(readFileSync('CHANGELOG.md', 'utf8'), version)

if (file === '') fail('usage: npm run release:notes <tag> <file>')
if (tag !== `v${version}`) fail(`the tag ${tag} is not v${version}, which package.json names`)
if (notes === '') fail(`CHANGELOG.md has nothing under "## ${version}"; rename "## Unreleased" and begin a new one above it`)

mkdirSync(path.dirname(file), { recursive: true })
writeFileSync(file, `${notes}\n`)
process.stdout.write(`wrote ${file}\n`)

/** The text below the heading of a version, with or without a date after it. */
function sectionOf(changelog: string, of: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const [, ...lines] = (sections.find((section) => section.split(/\s/, 1)[0] === of) ?? '').split('\n')
  return lines.join('\n').trim()
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
