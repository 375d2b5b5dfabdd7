/**
 * What a pull request says of captured changes: of which gateway, what the checks find, what was left out, and the differences with secrets
 * hidden. Everything that a gateway or its files say stands in fences, where no host reads it as markup or as the name of somebody. Pure.
 */
import { counted } from '../../counted.ts'
import { printable } from '../../gatewaysync/values.ts'
import { lineDiff } from '../../sync/plan/line-diff.ts'
import { maskSecrets } from '../../sync/plan/mask.ts'
import { subjectOf } from '../commit.ts'
import type { Words } from './hosts.ts'

/** `undefined`: there is none on that side. */
export type ToldFile = { path: string; before: Uint8Array | undefined; after: Uint8Array | undefined }

/** `files` are those that are told with their differences. */
export type ToldCapture = {
  gateway: string
  /** The commit that the changes were made on. */
  on: string
  files: readonly ToldFile[]
  /** How many files were changed, also those that are not among `files`. */
  changed: number
  findings: readonly { path: string; message: string; rule: string }[]
  leftOut: readonly { path: string; why: string }[]
}

const maxLinesOfFile = 120
const maxLine = 400

/** The text has `maxText` characters at most; the differences that find no room in it are counted. */
export function pullRequestWords(told: ToldCapture, maxText: number): Words {
  const { gateway, on, findings, leftOut } = told
  const title = printable(subjectOf(told.changed, gateway), 150)
  const closing = (missing: number): string => (missing === 0 ? '' : `${counted(missing, 'more file')} not shown here.`)
  const room = maxText - closing(told.changed).length - 2
  let text =
    'These files were changed on a gateway itself. After the merge it is in step without being written to; every other gateway gets the change.'
  text = withLines(text, '', [`gateway ${gateway}`, `on commit ${on}`], room)
  const found = findings.map(({ path, message, rule }) => `${path}: ${message} (${rule})`)
  text = withLines(text, 'The checks find in these files:', found, room)
  const left = leftOut.map(({ path, why }) => `${path} ${why}`)
  text = withLines(text, 'Left out, because it does not go back:', left, room)
  let shown = 0
  for (const file of told.files) {
    const next = `${text}\n\n${fenced('diff', differenceOf(file))}`
    if (next.length > room) break
    text = next
    shown += 1
  }
  const last = closing(told.changed - shown)
  return { title, text: last === '' ? text : `${text}\n\n${last}` }
}

/** The text with as many of the lines as there is room for. */
function withLines(text: string, heading: string, lines: readonly string[], room: number): string {
  for (let kept = lines.length; kept > 0; kept -= 1) {
    const next = [text, heading, fenced('', lines.slice(0, kept))].filter((part) => part !== '').join('\n\n')
    if (next.length <= room) return next
  }
  return text
}

/** One file, as lines of a diff; only its name where its content must not or cannot be shown. */
function differenceOf({ path, before, after }: ToldFile): string[] {
  const [old, made] = [before === undefined ? '/dev/null' : `a/${path}`, after === undefined ? '/dev/null' : `b/${path}`]
  const heading = [`--- ${old}`, `+++ ${made}`]
  const sides = maskSecrets(before, after ?? new Uint8Array())
  const lines = sides === undefined ? undefined : lineDiff(sides.before, sides.after)?.split('\n').filter(Boolean)
  if (lines === undefined) return [...heading, '(not shown)']
  const rest = lines.length - maxLinesOfFile
  return [...heading, ...lines.slice(0, maxLinesOfFile), ...(rest > 0 ? [`… ${rest} more lines`] : [])]
}

/** The fence is longer than any run of its own characters in the lines. */
function fenced(language: string, lines: readonly string[]): string {
  const shown = lines.map((line) => printable(line.replaceAll('\t', '  '), maxLine))
  const longest = Math.max(2, ...shown.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...shown, fence].join('\n')
}
