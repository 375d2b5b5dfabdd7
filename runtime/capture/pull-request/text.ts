/**
 * Writes the text of a pull request for captured changes, whose commit it reads from the mirror: the gateway, the findings, what was skipped, and the differences with secrets
 * hidden. All text from a gateway or its files is fenced, so that no host renders it as markup or as a mention.
 */
import { counted } from '../../platform/text/counted.ts'
import { type CommitHash, printable, type RefName } from '../../api/values.ts'
import { fileOf } from '../../git/content/make-commit.ts'
import { treeChanges } from '../../git/content/tree-changes.ts'
import type { Mirror } from '../../git/mirrors.ts'
import { Fault } from '../../platform/fault.ts'
import { lineDiff } from '../../sync/plan/shown-diff.ts'
import { maskSecrets } from '../../sync/plan/mask.ts'
import { subjectOf } from '../submit/commit.ts'
import type { PullRequestText } from './hosts.ts'

/** `undefined`: the file does not exist on that side. */
export type ComparedFile = { path: string; before: Uint8Array | undefined; after: Uint8Array | undefined }

/** `files` are shown with their differences. */
export type CaptureSummary = {
  gateway: string
  /** The commit that the changes were made on. */
  baseCommit: string
  files: readonly ComparedFile[]
  /** Number of changed files, including those that are not among `files`. */
  changed: number
  findings: readonly { path: string; message: string; rule: string }[]
  skipped: readonly { path: string; message: string }[]
}

const maxLinesOfFile = 120
const maxLine = 400

/** Returns at most `maxText` characters; differences beyond that are counted. */
export function writePullRequestText(capture: CaptureSummary, maxText: number): PullRequestText {
  const { gateway, baseCommit, findings, skipped } = capture
  const title = printable(subjectOf(capture.changed, gateway), 150)
  const closing = (missing: number): string => (missing === 0 ? '' : `${counted(missing, 'more file')} not shown here.`)
  const room = maxText - closing(capture.changed).length - 2
  let text = 'These files were changed on a gateway. After the merge, that gateway has nothing to apply; all other gateways get the change.'
  text = withLines(text, '', [`gateway ${gateway}`, `on commit ${baseCommit}`], room)
  const found = findings.map(({ path, message, rule }) => `${path}: ${message} (${rule})`)
  text = withLines(text, 'Findings in these files:', found, room)
  const left = skipped.map(({ path, message }) => `${path} ${message}`)
  text = withLines(text, 'Not captured:', left, room)
  let shown = 0
  for (const file of capture.files) {
    const next = `${text}\n\n${fenced('diff', differenceOf(file))}`
    if (next.length > room) break
    text = next
    shown += 1
  }
  const last = closing(capture.changed - shown)
  return { title, text: last === '' ? text : `${text}\n\n${last}` }
}

/** The text with as many of the lines as fit. */
function withLines(text: string, heading: string, lines: readonly string[], room: number): string {
  for (let kept = lines.length; kept > 0; kept -= 1) {
    const next = [text, heading, fenced('', lines.slice(0, kept))].filter((part) => part !== '').join('\n\n')
    if (next.length <= room) return next
  }
  return text
}

/** One file, as lines of a diff; only its name if its content must not or cannot be shown. */
function differenceOf({ path, before, after }: ComparedFile): string[] {
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

/** Maximum number and size of the files that a pull request shows. */
const maxFiles = 50
const maxBytes = 512 * 1024

/**
 * Returns the changed files, with contents up to the limit of a text; `paths` are all of them. Throws PullRequestRefused if the branch is
 * no longer at the commit, CommitGone, and the faults of git.
 */
export async function readCaptured(
  mirror: Mirror,
  { branch, commit, baseCommit }: { branch: string; commit: CommitHash; baseCommit: CommitHash },
  signal: AbortSignal,
): Promise<{ files: ComparedFile[]; paths: ReadonlySet<string> }> {
  const ref = `refs/heads/${branch}` as RefName
  const head = await mirror.resolve(ref, { fresh: true }, signal).catch((error: unknown) => {
    if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
    throw error
  })
  if (head?.commit !== commit) throw new Fault('PullRequestRefused', `branch ${branch} is gone, or has new commits`)
  await mirror.ensure(baseCommit, signal)
  const changes = await mirror.readBy(commit, (repository) => treeChanges(repository, { from: baseCommit, to: commit }, signal), signal)
  if (changes === undefined) throw new Fault('PullRequestRefused', `branch ${branch} contains more changes than a pull request can list`)
  const files: ComparedFile[] = []
  let bytes = 0
  for (const { path, before, after } of changes.slice(0, maxFiles)) {
    const read = async (of: CommitHash, mode: string): Promise<Buffer | undefined> =>
      mode === '000000' ? undefined : await mirror.readBy(of, (repository) => fileOf(repository, of, path, signal), signal)
    const file = { path, before: await read(baseCommit, before), after: await read(commit, after) }
    bytes += (file.before?.length ?? 0) + (file.after?.length ?? 0)
    if (bytes > maxBytes) break
    files.push(file)
  }
  return { files, paths: new Set(changes.map(({ path }) => path)) }
}
