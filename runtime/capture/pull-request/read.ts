/**
 * What a pushed commit of captured changes holds, read from the mirror: a replica that began to lead meanwhile knows nothing but its hash.
 */
import { Fault } from '../../fault.ts'
import type { CommitHash, RefName } from '../../gatewaysync/values.ts'
import { fileOf } from '../../source/content/make-commit.ts'
import { treeChanges } from '../../source/content/tree-changes.ts'
import type { Mirror } from '../../source/mirrors.ts'
import type { ToldFile } from './text.ts'

/** Beyond this no text of a pull request shows anything more. */
const mostFiles = 50
const mostBytes = 512 * 1024

/**
 * The files that differ, those of which a text has room with their contents; `paths` are all of them. Throws PullRequestRefused where the
 * branch is no longer at the commit, CommitGone, and the faults of git.
 */
export async function readCaptured(
  mirror: Mirror,
  { branch, commit, on }: { branch: string; commit: CommitHash; on: CommitHash },
  signal: AbortSignal,
): Promise<{ files: ToldFile[]; paths: ReadonlySet<string> }> {
  const ref = `refs/heads/${branch}` as RefName
  const head = await mirror.resolve(ref, { fresh: true }, signal).catch((error: unknown) => {
    if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
    throw error
  })
  if (head?.commit !== commit) throw new Fault('PullRequestRefused', `branch ${branch} is gone, or somebody has committed to it`)
  await mirror.ensure(on, signal)
  const changes = await mirror.readBy(commit, (repository) => treeChanges(repository, { from: on, to: commit }, signal), signal)
  if (changes === undefined) throw new Fault('PullRequestRefused', `branch ${branch} holds more changes than can be told`)
  const files: ToldFile[] = []
  let bytes = 0
  for (const { path, before, after } of changes.slice(0, mostFiles)) {
    const read = async (of: CommitHash, mode: string): Promise<Buffer | undefined> =>
      mode === '000000' ? undefined : await mirror.readBy(of, (repository) => fileOf(repository, of, path, signal), signal)
    const file = { path, before: await read(on, before), after: await read(commit, after) }
    bytes += (file.before?.length ?? 0) + (file.after?.length ?? 0)
    if (bytes > mostBytes) break
    files.push(file)
  }
  return { files, paths: new Set(changes.map(({ path }) => path)) }
}
