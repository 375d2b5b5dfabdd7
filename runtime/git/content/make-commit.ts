/**
 * Creates a commit without a checkout: the tree of another commit with some files written and some removed. Works in the folder of a mirror and
 * leaves only new objects, which may be removed until a ref keeps the commit.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, parseCommitHash, printable } from '../../api/values.ts'
import { type GitLimits, type GitRun, runGit, type StartGit } from '../command/git.ts'
import { treeChanges } from './tree-changes.ts'

/** `content` undefined: the file is removed. */
export type Edit = { source: string; content: Uint8Array | undefined; exec: boolean }

/** `at` is the time of author and committer, in seconds since 1970. `follows`: a second parent, which does not affect the tree. */
export type Message = { author: { name: string; email: string }; text: string; at: number; follows?: CommitHash | undefined }

type Repository = { folder: string; limits: GitLimits; start?: StartGit }

type RunInIndex = (args: string[], more?: Pick<GitRun, 'input' | 'environment'>) => Promise<string>

const timeoutMs = 120_000
/** The committer of local changes from gateways. */
export const committer = { name: 'cluster-sync', email: 'cluster-sync@localhost.invalid' }

/** The mode that git reports for a missing path, and those of ordinary files. */
const replaceable = new Set(['000000', '100644', '100755'])

/**
 * Returns the new commit with `parent` as its first parent. Throws PayloadMalformed if an edit would remove anything else, and the faults
 * of git.
 */
export async function makeCommit(
  repository: Repository,
  parent: CommitHash,
  edits: readonly Edit[],
  { author, text, at, follows }: Message,
  signal: AbortSignal,
): Promise<CommitHash> {
  const { folder, limits, start } = repository
  const own = mkdtempSync(path.join(folder, 'index-'))
  const git: RunInIndex = async (args, more = {}) => {
    const environment = { GIT_INDEX_FILE: path.join(own, 'index'), ...more.environment }
    return (await runGit({ folder, args, timeoutMs, ...more, environment }, { limits, signal, start })).toString('latin1').trim()
  }
  try {
    await git(['read-tree', parent])
    const lines: string[] = []
    for (const { source, content, exec } of edits) {
      const id = content === undefined ? undefined : await git(['hash-object', '-w', '--stdin'], { input: content })
      lines.push(id === undefined ? `0 ${'0'.repeat(parent.length)}\t${source}` : `${exec ? '100755' : '100644'} ${id}\t${source}`)
    }
    await git(['update-index', '-z', '--index-info'], { input: `${lines.join('\0')}\0` })
    const tree = parseCommitHash(await git(['write-tree']))
    await requireOnlyEdits(repository, { parent, tree, edits }, signal)
    await requireAllEdits(git, tree, edits)
    const date = `${at} +0000`
    const environment = {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: date,
    }
    const parents = [parent, ...(follows === undefined || follows === parent ? [] : [follows])].flatMap((each) => ['-p', each])
    return parseCommitHash(await git(['commit-tree', tree, ...parents, '-F', '-'], { input: text, environment }))
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

/** git omits names that it refuses, such as `GIT~1/config`, and still succeeds. */
async function requireAllEdits(git: RunInIndex, tree: CommitHash, edits: readonly Edit[]): Promise<void> {
  const sources = edits.map(({ source }) => source)
  const listed = await git(['ls-tree', '-z', '--name-only', tree, '--', ...sources], { environment: { GIT_LITERAL_PATHSPECS: '1' } })
  const names = new Set(Buffer.from(listed, 'latin1').toString('utf8').split('\0'))
  const lost = edits.find(({ source, content }) => names.has(source) !== (content !== undefined))
  if (lost !== undefined)
    throw new Fault('PayloadMalformed', `${printable(lost.source)} has a name that git refuses; rename the file on the gateway`)
}

/** An index holds either a file or a folder of one name: git silently drops the other one, and with a folder every file in it. */
async function requireOnlyEdits(
  repository: Repository,
  { parent, tree, edits }: { parent: CommitHash; tree: CommitHash; edits: readonly Edit[] },
  signal: AbortSignal,
): Promise<void> {
  const edited = new Set(edits.map(({ source }) => source))
  const changes = await treeChanges(repository, { from: parent, to: tree }, signal)
  if (changes === undefined)
    throw new Fault(
      'PayloadTooLarge',
      `${edits.length} changed files are more than one commit may contain; make the change in the repository`,
    )
  const harmed = changes.find(({ path: changed, before }) => !edited.has(changed) || !replaceable.has(before))
  if (harmed === undefined) return
  const by = edits.find(({ source }) => isBelow(source, harmed.path) || isBelow(harmed.path, source))?.source ?? harmed.path
  const what = by === harmed.path ? 'is a link or a submodule' : `would take the place of "${printable(harmed.path)}"`
  throw new Fault('PayloadMalformed', `${printable(by)} ${what} in commit ${parent}; change it in the repository`)
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`)
}

/** A file of a commit; undefined if the commit lacks it, or it cannot be read. Throws GitKilled. */
export async function fileOf(
  { folder, limits, start }: Repository,
  commit: CommitHash,
  file: string,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const args = ['cat-file', 'blob', `${commit}:${file}`]
  return await runGit({ folder, args, timeoutMs }, { limits, signal, start }).catch((error: unknown) => {
    if (error instanceof Fault && error.reason === 'GitKilled') throw error
    return undefined
  })
}

/** Writes a commit as a patch that `git am` takes. Throws the faults of git. */
export async function writePatch(
  { folder, limits, start }: Repository,
  commit: CommitHash,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const args = ['format-patch', '-1', '--binary', '--full-index', '--no-signature', `--output=${file}`, commit]
  await runGit({ folder, args, timeoutMs }, { limits, signal, start })
}

/** Writes a commit as a bundle with one branch, for a repository that has the parent. Throws the faults of git. */
export async function writeBundle(
  { folder, limits, start }: Repository,
  { commit, parent, branch }: { commit: CommitHash; parent: CommitHash; branch: string },
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const ref = `refs/heads/${branch}`
  const git = async (...args: string[]): Promise<void> => {
    await runGit({ folder, args, timeoutMs }, { limits, signal, start })
  }
  await git('update-ref', ref, commit)
  try {
    await git('bundle', 'create', '-q', file, `^${parent}`, ref)
  } finally {
    await git('update-ref', '-d', ref)
  }
}
