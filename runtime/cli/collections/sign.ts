/**
 * `cluster-sync sign`: recomputes the signatures of resources that were edited by hand.
 */
import type { Command } from 'commander'
import type { SignOptions } from './sign-resources.ts'

const timeoutMs = 600_000

export function register(program: Command): void {
  program
    .command('sign')
    .description('recompute the signatures of hand-edited resources. Exit 1 when a resource cannot be signed')
    .argument('<path>', 'a resource, or a folder of resources')
    .option('--root <dir>', 'folder that holds the collections, from the top of the repository (default: found by itself)')
    .option('--dry-run', 'only say which signatures are stale')
    .action(async (where: string, options: SignOptions) => {
      const { sign } = await import('./sign-resources.ts')
      const { signed, unsigned, right } = await sign(where, options, AbortSignal.timeout(timeoutMs))
      const done = options.dryRun === true ? 'stale' : 'signed'
      for (const file of signed) process.stdout.write(`${done} ${file}\n`)
      for (const { file, why } of unsigned) process.stderr.write(`cluster-sync: ${file}: ${why}\n`)
      const impossible = unsigned.length === 0 ? '' : `, ${unsigned.length} cannot be signed`
      process.stdout.write(`${signed.length} ${done}, ${right} already valid${impossible}\n`)
      process.exitCode = unsigned.length > 0 ? 1 : 0
    })
}
