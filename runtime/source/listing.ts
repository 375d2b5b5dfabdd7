/**
 * The files of a commit, streamed: a tree can be larger than what may be held.
 */
import { Fault } from '../fault.ts'
import type { FileMode } from '../delivery/protocol.ts'
import { type CommitHash, type RelativePath } from '../gatewaysync/values.ts'
import { ending, type GitLimits, type GitRun, startGit } from './git.ts'

export type ListedFile = { path: RelativePath; mode: FileMode; id: CommitHash; size: number }

type Repository = { folder: string; limits: GitLimits }

/** More files than this is no configuration but a bomb. */
export const maxListedFiles = 500_000
const timeoutMs = 120_000
const batchSize = 1_000

/** Every file below the roots, in batches; without `sizes`, which cost twice the time, each is 0. Throws RepositoryTooLarge, CommitGone and the faults of git. */
export async function* listCommit(
  repository: Repository,
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
  sizes = true,
): AsyncGenerator<readonly ListedFile[]> {
  const format = `--format=%(objectmode) %(objectname) ${sizes ? '%(objectsize)' : '-'}%x09%(path)`
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots]
  const args = ['ls-tree', '-r', '-z', '--full-tree', format, commit, ...paths]
  let count = 0
  let batch: ListedFile[] = []
  for await (const record of records(repository, { folder: repository.folder, args, timeoutMs }, signal)) {
    const file = parseListed(record)
    if (file === undefined) continue
    if ((count += 1) > maxListedFiles) throw new Fault('RepositoryTooLarge', `the commit holds more than ${maxListedFiles} files`)
    batch.push(file)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** `<mode> <id> <size>TAB<path>`; a submodule has `-` for its size. Names that are not UTF-8 cannot be files of a gateway. */
export function parseListed(record: string): ListedFile | undefined {
  const [, mode, id, size, path] = /^([0-7]{6}) ([0-9a-f]+) +(-|[0-9]+)\t(.*)$/s.exec(record) ?? []
  if (mode === undefined || id === undefined || path === undefined) return undefined
  return { path: path as RelativePath, mode: mode as FileMode, id: id as CommitHash, size: size === '-' ? 0 : Number(size) }
}

/** The NUL-terminated records of git's output, one by one. */
export async function* records({ limits }: Pick<Repository, 'limits'>, run: GitRun, signal: AbortSignal): AsyncGenerator<string> {
  const child = startGit(run, limits)
  const own = new AbortController()
  const ended = ending(child, run, AbortSignal.any([signal, own.signal]))
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
      yield* parts
    }
    await ended
    complete = true
  } finally {
    if (!complete) own.abort(new Error('the reader has left'))
  }
}
