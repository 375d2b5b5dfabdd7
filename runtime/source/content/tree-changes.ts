/**
 * Which files differ between two trees of a mirror, as git compares them, without renames.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'
import { type GitLimits, runGit } from '../git/git.ts'

/** `before`: git's mode of the path in the first tree, six digits; `'000000'`: it has none there. `after` likewise in the second. */
export type TreeChange = { path: string; before: string; after: string }

const timeoutMs = 120_000

/** `from` and `to` are commits or trees that the mirror holds. Throws the faults of git. */
export async function treeChanges(
  { folder, limits }: { folder: string; limits: GitLimits },
  from: CommitHash,
  to: CommitHash,
  signal: AbortSignal,
): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--end-of-options', from, to]
  const output = (await runGit({ folder, args, timeoutMs }, { limits, signal })).toString('utf8')
  // ":100644 100644 <id> <id> M", then the path, each ended by a zero byte.
  const fields = output.split('\0')
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, index) => {
    const [before = '', after = ''] = (fields[2 * index] ?? '').slice(1).split(' ')
    return { path: fields[2 * index + 1] ?? '', before, after }
  })
}
