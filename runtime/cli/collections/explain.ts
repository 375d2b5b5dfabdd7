/**
 * Registers `cluster-sync explain`: shows the effective resources of a mode with their collections, or explains a rule.
 */
import { type Command, Option } from 'commander'
import { workSignal } from '../stop.ts'
import { helpFooter } from '../command.ts'
import { print, printError, standardOutput, writeError } from '../output/output.ts'

type Options = { mode?: string; ref?: string; root?: string; format: 'text' | 'json' }

const timeoutMs = 600_000

export function register(program: Command): void {
  program
    .command('explain')
    .summary('Explain a validation rule, or the resources of a deployment mode')
    .description(
      'Explain a rule of lint. With --mode, show the resources that a gateway in that deployment mode would have, and the collection that each comes from.',
    )
    .argument('<rule-or-path>', 'a rule such as "stale-signature"; or a directory or repository URL')
    .argument('[resource]', 'only this type or type/name, optionally prefixed with the module')
    .option('-m, --mode <mode>', 'deployment mode; "" for a gateway without one')
    .option('--ref <ref>', 'branch, tag or commit instead of the files of the directory')
    .option('--root <dir>', 'folder that contains the collections, below the path')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      helpFooter({
        exits: { 0: 'success', 1: 'the mode does not exist, or a gateway cannot read a collection', 2: 'invalid options' },
        calls: ['explain stale-signature', 'explain . database-connection/historian --mode prod'],
        page: 'docs/reference/commands.md',
      }),
    )
    .action(async (where: string, resource: string | undefined, options: Options) => {
      const { mode } = options
      if (mode === undefined) {
        const { explainRule } = await import('./explain-text.ts')
        print(standardOutput(), [explainRule(where, options.format)])
        return
      }
      const [{ openInput, oneRoot }, { readTree }, { isUserMode }, { foldName }, { asJson, asText, caveatsOf, explain, modesOf }] =
        await Promise.all([
          import('./collections-input.ts'),
          import('../../validation/run/check-root.ts'),
          import('../../validation/model/inheritance.ts'),
          import('../../api/values.ts'),
          import('./explain-text.ts'),
        ])
      const signal = workSignal(timeoutMs)
      const input = await openInput(where, options.ref, signal)
      try {
        const root = oneRoot(input, options.root)
        const facts = await readTree(input.listing, { root, files: input.files }, signal)
        const effective = explain(facts.family, mode, resource)
        print(standardOutput(), [options.format === 'json' ? asJson(mode, facts.family, effective) : asText(effective)])
        const missing = mode !== '' && isUserMode(mode) && !facts.family.byName.has(foldName(mode))
        if (missing) {
          printError(`the mode "${mode}" has no folder in ${root}: nothing is overridden; ${modesOf(facts.family)} (mode-without-folder)`)
        }
        const caveats = caveatsOf(facts, mode)
        for (const caveat of caveats) printError(caveat)
        if (caveats.length > 0) writeError('  next: correct it; until then, a gateway may use different resources than shown here\n')
        process.exitCode = missing || caveats.length > 0 ? 1 : 0
      } finally {
        await input.close()
      }
    })
}
