/**
 * Lists the files of a commit, and the difference between two, as streams: a tree can be larger than what may be held in memory.
 */
import { type FileMode, maxPathCharacters, pathTooLong, requireCount, requirePath, requireSize } from '../../content/protocol/protocol.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'
import { waitForEnd, type GitLimits, type GitRun, startGit, type StartGit } from '../command/git.ts'

type ListedFile = { path: RelativePath; mode: FileMode; id: CommitHash; size: number }

type Repository = { folder: string; limits: GitLimits; start?: StartGit }

/** Bound of one record, mode and id included: git has none, and an unfinished record is held in memory. */
const maxRecordCharacters = maxPathCharacters + 256
const timeoutMs = 120_000
/** Files of one batch: small enough that V8 frees it while it is still in the young generation. */
const batchSize = 200

/**
 * Every file below the roots, in batches. Without `sizes`, which double the time, each size is 0. Throws RepositoryTooLarge naming the limit,
 * CommitGone and the faults of git.
 */
export async function* listCommit(
  repository: Repository,
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
  sizes = true,
): AsyncGenerator<readonly ListedFile[]> {
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots]
  // Not --format: git 2.39 quotes the path there in spite of -z, and a quoted path would match no root.
  const args = ['ls-tree', '-r', '-z', '--full-tree', ...(sizes ? ['-l'] : []), commit, ...paths]
  let count = 0
  let batch: ListedFile[] = []
  for await (const several of records(repository, { folder: repository.folder, args, timeoutMs }, signal)) {
    for (const record of several) {
      const file = parseListed(record)
      if (file === undefined) continue
      requireCount((count += 1))
      requirePath(file.path)
      requireSize(file)
      batch.push(file)
      if (batch.length < batchSize) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** `status` is a letter of git: D for a deleted file. `before`: the earlier id of the path, all zeros if it is new. */
export type ChangedFile = { status: string; mode: string; before: CommitHash; id: CommitHash; path: RelativePath }

/**
 * The differences between two commits below the roots, in batches that are the same on every call. Throws RepositoryTooLarge and the faults
 * of git, also when the repository lacks one of the commits.
 */
export async function* compareCommits(
  repository: Repository,
  from: CommitHash,
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
): AsyncGenerator<readonly ChangedFile[]> {
  // Without a path diff-tree would list the whole repository.
  if (roots.length === 0) return
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots.map((root) => `:(literal)${root}`)]
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, commit, ...paths]
  let head: string[] | undefined
  let batch: ChangedFile[] = []
  // Records alternate: `:<old mode> <mode> <old id> <id> <status>`, then the path.
  for await (const several of records(repository, { folder: repository.folder, args, timeoutMs }, signal)) {
    for (const record of several) {
      if (head === undefined) {
        head = record.slice(1).split(' ')
        continue
      }
      const [, mode = '', before = '', id = '', status = ''] = head
      head = undefined
      requirePath(record)
      batch.push({ status, mode, before: before as CommitHash, id: id as CommitHash, path: record as RelativePath })
      if (batch.length < batchSize) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** `<mode> <type> <id>[ <size>]TAB<path>`; a submodule has `-` for its size. Names that are not UTF-8 cannot be files of a gateway. */
function parseListed(record: string): ListedFile | undefined {
  // Parsed by hand, because there may be hundreds of thousands.
  const tab = record.indexOf('\t')
  const idAt = record.indexOf(' ', 7) + 1
  if (tab < 0 || idAt <= 0 || idAt > tab) return undefined
  const sizeAt = record.indexOf(' ', idAt)
  const hasSize = sizeAt >= 0 && sizeAt < tab
  const id = record.slice(idAt, hasSize ? sizeAt : tab)
  const size = hasSize ? Number(record.slice(sizeAt, tab)) : 0
  return {
    path: record.slice(tab + 1) as RelativePath,
    mode: record.slice(0, 6) as FileMode,
    id: id as CommitHash,
    // A submodule has `-`.
    size: Number.isNaN(size) ? 0 : size,
  }
}

/** The NUL-terminated records of git's output, as many at a time as arrive: one turn of the event loop for each would take longer than git. */
async function* records(
  { limits, start = startGit }: Pick<Repository, 'limits' | 'start'>,
  run: GitRun,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const child = start(run, limits)
  const own = new AbortController()
  const ended = waitForEnd(child, run, AbortSignal.any([signal, own.signal]))
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.end()
  let rest = ''
  let complete = false
  try {
    child.stdout.setEncoding('utf8')
    for await (const chunk of child.stdout as AsyncIterable<string>) {
      const parts = (rest + chunk).split('\0')
      rest = parts.pop() ?? ''
      if (rest.length > maxRecordCharacters) throw pathTooLong()
      yield parts
    }
    await ended
    complete = true
  } finally {
    if (!complete) own.abort(new Error('the client has disconnected'))
  }
}
