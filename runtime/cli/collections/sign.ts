/**
 * Registers `cluster-sync sign`: recomputes the signatures of resources that were edited manually.
 */
import type { Command } from 'commander'
import type { SignOptions } from './sign-resources.ts'
import { helpFooter } from '../command.ts'
import { print, printError, standardOutput } from '../output/output.ts'

const timeoutMs = 600_000

export function register(program: Command): void {
  program
    .command('sign')
    .description('Update the signatures of hand-edited resources')
    .argument('<path>', 'a resource, or a folder of resources')
    .option('--root <dir>', 'folder that contains the collections, relative to the top of the repository (default: detected)')
    .option('--dry-run', 'list stale signatures without changing them')
    .addHelpText('after', helpFooter({ exits: { 0: 'done', 1: 'a resource cannot be signed', 2: 'invalid options' } }))
    .action(async (where: string, options: SignOptions) => {
      const { sign } = await import('./sign-resources.ts')
      const { signed, unsigned, right } = await sign(where, options, AbortSignal.timeout(timeoutMs))
      const done = options.dryRun === true ? 'stale' : 'signed'
      const output = standardOutput()
      for (const file of signed) print(output, [`${done} ${file}`])
      for (const { file, why } of unsigned) printError(`${file}: ${why}`)
      const impossible = unsigned.length === 0 ? '' : `, ${unsigned.length} cannot be signed`
      print(output, [`${signed.length} ${done}, ${right} already valid${impossible}`])
      process.exitCode = unsigned.length > 0 ? 1 : 0
    })
}
