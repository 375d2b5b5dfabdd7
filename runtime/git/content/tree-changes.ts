/**
 * Lists the files that differ between two trees of a mirror, as git compares them, without renames.
 */
import type { CommitHash } from '../../api/values.ts'
import { type GitLimits, runGitWithin, type StartGit } from '../command/git.ts'

/** `before`: git's mode of the path in the first tree, six digits; `'000000'` if the tree lacks it. `after` likewise in the second. */
export type TreeChange = { path: string; before: string; after: string }

const timeoutMs = 120_000

/**
 * `from` and `to` are commits or trees that the mirror holds; `among`: only these paths and those below them. Undefined if the difference
 * exceeds 8 MiB. Throws the faults of git.
 */
export async function treeChanges(
  { folder, limits, start }: { folder: string; limits: GitLimits; start?: StartGit },
  { from, to, among = [] }: { from: CommitHash; to: CommitHash; among?: readonly string[] },
  signal: AbortSignal,
): Promise<TreeChange[] | undefined> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--end-of-options', from, to, '--', ...among]
  const environment = { GIT_LITERAL_PATHSPECS: '1' }
  const output = await runGitWithin({ folder, args, environment, timeoutMs }, { limits, signal, start })
  if (output === undefined) return undefined
  // ":100644 100644 <id> <id> M", then the path, each ended by a zero byte.
  const fields = output.toString('utf8').split('\0')
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, index) => {
    const [before = '', after = ''] = (fields[2 * index] ?? '').slice(1).split(' ')
    return { path: fields[2 * index + 1] ?? '', before, after }
  })
}
